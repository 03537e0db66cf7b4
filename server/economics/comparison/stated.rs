//! Ranges that are stated, by the JSON pointers of the numbers that they are of.

use super::entered::{Ranges, Scenario, Stated};

impl Scenario {
    /// What is stated of a number, by its JSON pointer.
    pub(in crate::economics) fn stated(&self, pointer: &str) -> Option<&Stated> {
        let parts: Vec<&str> = pointer.split('/').skip(1).collect();
        let at = |text: &str| text.parse::<usize>().ok();
        let (ranges, rest) = match parts.as_slice() {
            ["option", option, "place", place, rest @ ..] => {
                (&self.options.get(at(option)?)?.places.get(at(place)?)?.ranges, rest)
            }
            ["work", work, rest @ ..] => (&self.work.get(at(work)?)?.ranges, rest),
            rest => (&self.ranges, rest),
        };
        ranges.get(&rest.join("."))
    }

    /// The same, to be changed.
    pub(in crate::economics) fn stated_mut(&mut self, pointer: &str) -> Option<&mut Stated> {
        let parts: Vec<&str> = pointer.split('/').skip(1).collect();
        let at = |text: &str| text.parse::<usize>().ok();
        let (ranges, rest) = match parts.as_slice() {
            ["option", option, "place", place, rest @ ..] => {
                let places = &mut self.options.get_mut(at(option)?)?.places;
                (&mut places.get_mut(at(place)?)?.ranges, rest)
            }
            ["work", work, rest @ ..] => (&mut self.work.get_mut(at(work)?)?.ranges, rest),
            rest => (&mut self.ranges, rest),
        };
        ranges.get_mut(&rest.join("."))
    }

    /// Every range that is stated, with the pointer of its number.
    pub(in crate::economics) fn all_stated(&self) -> Vec<(String, &Stated)> {
        let add = |of: &str, ranges: &Ranges| -> Vec<String> {
            ranges.keys().map(|key| format!("{of}/{}", key.replace('.', "/"))).collect()
        };
        let mut pointers = add("", &self.ranges);
        for (at, work) in self.work.iter().enumerate() {
            pointers.extend(add(&format!("/work/{at}"), &work.ranges));
        }
        for (at, option) in self.options.iter().enumerate() {
            for (n, place) in option.places.iter().enumerate() {
                pointers.extend(add(&format!("/option/{at}/place/{n}"), &place.ranges));
            }
        }
        pointers.into_iter().filter_map(|it| self.stated(&it).map(|stated| (it.clone(), stated))).collect()
    }
}
