"""The knowledge loop: sessions leave memory that later sessions read."""
