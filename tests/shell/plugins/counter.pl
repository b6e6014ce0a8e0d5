#!/usr/bin/env perl
# A plugin in plain Perl, with JSON by regular expressions: the protocol needs no library. It refuses every second `true`.
use strict;
use warnings;
use IO::Socket::UNIX;

my $server = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1) or die;
my $link = $server->accept;
my $seen = 0;
$link->autoflush(1);
while (my $line = <$link>) {
    if ($line =~ /"type": ?"handshake"/) {
        print $link qq({"type":"handshake_ok","hooks":["process.pre_spawn"]}\n);
    } elsif ($line =~ /"type": ?"terminate"/) {
        last;
    } elsif ($line =~ /"id": ?(\d+)/) {
        my $id = $1;
        my $refuse = $line =~ /"command": ?"true"/ && ++$seen % 2 == 0;
        print $link $refuse
            ? qq({"type":"hook_result","id":$id,"action":"deny","reason":"not twice"}\n)
            : qq({"type":"hook_result","id":$id,"action":"allow"}\n);
    }
}
