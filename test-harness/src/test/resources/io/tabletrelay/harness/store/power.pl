# Cuts the power of a mounted ext4 file system: what was not written to its device by then is gone.
#
#   perl power.pl MOUNT-POINT
#
# Reads commands, one a line, and answers each with lines of which the last is "done":
#   scatter SEED   writes random dirty pages of random files back, then commits the file system's journal
#   files SEED     forces random files
#   commit SEED    commits the journal: sizes and names without the data that belongs to them
#   cut 0          shuts the file system down without flushing its log, and ends
use strict;
use warnings;
use File::Find;
use Fcntl;

$| = 1;
my $mount = shift;
my %numbers = (x86_64 => [277, 74], aarch64 => [84, 82]);
my $machine = `uname -m`;
chomp $machine;
my ($sync_file_range, $fsync) = @{$numbers{$machine} // [0, 0]};
open(my $root, "<", $mount) or die "cannot open $mount: $!";

# Deferred: this file's own commit is what writes the journal.
sub commit {
    sysopen(my $marker, "$mount/marker", O_CREAT | O_WRONLY) or die "cannot open marker: $!";
    syswrite($marker, time() . rand());
    syscall($fsync, fileno($marker)) == 0 or die "cannot force marker: $!";
}

sub files {
    my @found;
    find({no_chdir => 1, wanted => sub { push @found, $_ if -f $_ && $_ !~ /marker$/ }}, $mount);
    return sort @found;
}

sub scatter {
    die "unknown machine: $machine" unless $sync_file_range;
    for my $path (files()) {
        next if rand() < 0.3;
        sysopen(my $file, $path, O_RDWR) or next;
        my $pages = int(((-s $file) // 0) / 4096) + 1;
        for (1 .. 1 + int(rand(6))) {
            my $first = int(rand($pages));
            my $count = 1 + int(rand(rand() < 0.5 ? 2 : $pages));
            syscall($sync_file_range, fileno($file), $first * 4096, $count * 4096, 7);
        }
    }
    commit();
}

while (my $line = <STDIN>) {
    my ($command, $seed) = split ' ', $line;
    srand($seed);
    if ($command eq "scatter") {
        scatter();
    } elsif ($command eq "commit") {
        commit();
    } elsif ($command eq "files") {
        for my $path (files()) {
            next if rand() < 0.5;
            sysopen(my $file, $path, O_RDWR) or next;
            syscall($fsync, fileno($file));
        }
    } elsif ($command eq "cut") {
        my $no_log_flush = pack("L", 2);
        ioctl($root, 0x8004587D, $no_log_flush) or die "cannot cut: $!";
        print "done\n";
        exit 0;
    }
    print "done\n";
}
