//! The user whose rights a server has once its ports are open.

use std::fs;
use std::io;

use rustix::process::{Gid, Uid};
use rustix::thread::{set_thread_groups, set_thread_res_gid, set_thread_res_uid};

use crate::error::plain;

const USERS: &str = "/etc/passwd";

/// A user of this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct User {
    uid: Uid,
    gid: Gid,
}

impl User {
    /// Finds the user of this name in /etc/passwd.
    ///
    /// # Errors
    /// There is no such user, or the file cannot be read. The text says which.
    pub fn find(name: &str) -> Result<User, String> {
        let users = fs::read_to_string(USERS).map_err(|error| format!("{USERS}: {}", plain(&error)))?;
        parse(&users, name).ok_or_else(|| format!("{USERS} has no user {name}"))
    }

    /// Gives this thread, and those that it starts from now on, the rights of the user and of its group alone, for
    /// good.
    pub(crate) fn take_over(self) -> io::Result<()> {
        let User { uid, gid } = self;
        set_thread_groups(&[gid])?;
        set_thread_res_gid(gid, gid, gid)?;
        // With the last of root's three user IDs, all capabilities go.
        set_thread_res_uid(uid, uid, uid)?;
        Ok(())
    }
}

/// passwd(5): name, password, user, group, and more, with colons between.
fn parse(users: &str, name: &str) -> Option<User> {
    let mut fields = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.split(':').skip(1);
    let uid = Uid::from_raw(fields.next()?.parse().ok()?);
    Some(User { uid, gid: Gid::from_raw(fields.next()?.parse().ok()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_is_found_by_full_name_only() {
        let users =
            "root:x:0:0:root:/root:/bin/bash\nwww-data2:x:34:34::/:\nwww-data:x:33:35:www-data:/var/www:\nbad:x\n";
        let expected = User { uid: Uid::from_raw(33), gid: Gid::from_raw(35) };
        assert_eq!(parse(users, "www-data"), Some(expected));
        for none in ["www", "www-data3", "bad", "", "x"] {
            assert_eq!(parse(users, none), None, "{none}");
        }
        assert_eq!(User::find("no such user"), Err("/etc/passwd has no user no such user".to_owned()));
    }
}
