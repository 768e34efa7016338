//! Datagrams that the kernel dropped because a process did not read them in time.

use std::collections::HashSet;
use std::fs;
use std::io;

/// The number of columns of `/proc/net/udp` before a socket's inode.
const BEFORE_INODE: usize = 9;

/// Returns the number of datagrams dropped at the UDP sockets that process `pid` has open now.
///
/// # Errors
/// The process is gone or belongs to another user, or the system has no `/proc`.
pub fn dropped_datagrams(pid: u32) -> io::Result<u64> {
    let sockets = sockets_of(pid)?;
    let table = |name: &str| fs::read_to_string(format!("/proc/{pid}/net/{name}"));
    // Without IPv6 there is no second table.
    Ok(drops_in(&table("udp")?, &sockets) + table("udp6").map_or(0, |table| drops_in(&table, &sockets)))
}

/// The inodes of a process's sockets.
fn sockets_of(pid: u32) -> io::Result<HashSet<String>> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd"))?;
    // A descriptor may be closed between being listed and being read.
    let targets = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    Ok(targets
        .filter_map(|target| Some(target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.into()))
        .collect())
}

/// The sum of the last column over the lines of these sockets.
fn drops_in(table: &str, sockets: &HashSet<String>) -> u64 {
    let drops = |line: &str| {
        let mut columns = line.split_whitespace();
        sockets.contains(columns.nth(BEFORE_INODE)?).then(|| columns.last()?.parse::<u64>().ok())?
    };
    table.lines().filter_map(drops).sum()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};

    use super::*;

    #[test]
    fn drops_are_summed_over_the_requested_sockets() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops\n\
                     90: 0100007F:1770 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 5555 2 0000000000000000 17\n\
                     91: 0100007F:0035 0100007F:1770 07 00000000:00000000 00:00000000 00000000 0 0 5556 2 0000000000000000 4\n";
        let of = |sockets: &[&str]| drops_in(table, &sockets.iter().map(ToString::to_string).collect());
        assert_eq!((of(&["5555"]), of(&["5555", "5556"]), of(&["17", "4"])), (17, 21, 0));
    }

    #[test]
    fn unread_socket_drops_datagrams_beyond_its_buffer() {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
        rustix::net::sockopt::set_socket_recv_buffer_size(&socket, 1 << 14).expect("a small buffer");
        let from = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback");
        from.connect(socket.local_addr().expect("an address")).expect("connected");
        let own = std::process::id();
        let before = dropped_datagrams(own).expect("/proc");
        // Far more than 2 x 16 KiB, the kernel's reading of the option.
        (0..100).for_each(|_| assert_eq!(from.send(&[0; 1400]).expect("loopback takes it"), 1400));
        assert!(dropped_datagrams(own).expect("/proc") >= before + 50);
        drop(socket);
        assert!(dropped_datagrams(u32::MAX).is_err(), "no such process");
    }
}
