//! Media types of files, by their names, for browsers and players.

/// The part of a name after its last dot, in lower case.
pub(crate) fn extension(name: &str) -> String {
    name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase()
}

/// The media type of a file.
pub(crate) fn of(name: &str) -> &'static str {
    match extension(name).as_str() {
        "mp4" | "m4v" | "m4s" | "cmfv" => "video/mp4",
        "m4a" | "cmfa" => "audio/mp4",
        "mov" => "video/quicktime",
        "webm" => "video/webm",
        "mkv" => "video/x-matroska",
        "avi" => "video/x-msvideo",
        "wmv" => "video/x-ms-wmv",
        "flv" => "video/x-flv",
        "mpg" | "mpeg" | "vob" => "video/mpeg",
        "ogv" => "video/ogg",
        "ts" | "m2ts" | "mts" => "video/mp2t",
        "mp3" => "audio/mpeg",
        "aac" => "audio/aac",
        // RFC 8216 §4, ISO/IEC 23009-1 Annex C.
        "m3u8" => "application/vnd.apple.mpegurl",
        "mpd" => "application/dash+xml",
        "vtt" => "text/vtt; charset=utf-8",
        "txt" | "srt" => "text/plain; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        _ => "application/octet-stream",
    }
}
