"""The knowledge loop: sessions leave notes that later sessions read."""
