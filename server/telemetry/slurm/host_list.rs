//! Lists of nodes as Slurm writes them: `gpu-[01-04,07],login1`
//! (<https://slurm.schedmd.com/scontrol.html#OPT_hostlist>).

/// More nodes than any cluster has.
const MOST: usize = 100_000;
/// More ranges than any name of a node has.
const RANGES: usize = 8;

/// The nodes of a list, in its order. None of an allocation that never had one.
///
/// # Errors
/// What cannot be read.
pub fn nodes(list: &str) -> Result<Vec<String>, String> {
    let list = list.trim();
    if list.is_empty() || list == "None assigned" || list == "(null)" {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    for part in split(list)? {
        if part.matches('[').count() > RANGES {
            return Err(format!("more than {RANGES} ranges in one name"));
        }
        expand(part.trim(), String::new(), &mut names)?;
    }
    Ok(names)
}

/// `a[1,2],b` is two parts.
fn split(list: &str) -> Result<Vec<&str>, String> {
    let (mut parts, mut is_inside, mut begins) = (Vec::new(), false, 0);
    for (at, letter) in list.char_indices() {
        match (letter, is_inside) {
            ('[', false) => is_inside = true,
            (']', true) => is_inside = false,
            ('[', true) | (']', false) => return Err(list.to_owned()),
            (',', false) => {
                parts.push(&list[begins..at]);
                begins = at + 1;
            }
            _ => {}
        }
    }
    if is_inside {
        return Err(list.to_owned());
    }
    parts.push(&list[begins..]);
    Ok(parts)
}

/// Adds what `part` stands for behind `before`: `[01-02]n[1,3]` is four names.
fn expand(part: &str, before: String, names: &mut Vec<String>) -> Result<(), String> {
    let Some((head, rest)) = part.split_once('[') else {
        if names.len() >= MOST {
            return Err(format!("more than {MOST} nodes"));
        }
        names.push(before + part);
        return Ok(());
    };
    let (ranges, tail) = rest.split_once(']').ok_or_else(|| part.to_owned())?;
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let number = |text: &str| -> Result<u64, String> {
            let is_number = !text.is_empty() && text.len() <= 9 && text.bytes().all(|it| it.is_ascii_digit());
            is_number.then(|| text.parse().ok()).flatten().ok_or_else(|| range.to_owned())
        };
        for index in number(first)?..=number(last)? {
            expand(tail, format!("{before}{head}{index:0width$}"), names)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_slurm_writes_them() {
        for (list, expected) in [
            ("vm", vec!["vm"]),
            ("node[01-03]", vec!["node01", "node02", "node03"]),
            ("compute-[0-2]", vec!["compute-0", "compute-1", "compute-2"]),
            ("a[1,3-4],b,c-[09-10]", vec!["a1", "a3", "a4", "b", "c-09", "c-10"]),
            ("r[1-2]n[01-02]", vec!["r1n01", "r1n02", "r2n01", "r2n02"]),
            ("None assigned", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(nodes(list).unwrap(), expected, "{list}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for list in [
            "a[1-",
            "a[1-x]",
            "a]1[",
            "a[[1]]",
            "a[]",
            "n[0-999999999]",
            "n[1-900][1-900]",
            "a[1][1][1][1][1][1][1][1][1]",
        ] {
            assert!(nodes(list).is_err(), "{list}");
        }
    }
}
