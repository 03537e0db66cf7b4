use proptest::prelude::*;

use super::*;

fn lines(file: &str) -> String {
    let found = read(file.as_bytes()).unwrap();
    let time = |time: DateTime<Utc>| time.format("%d %H:%M:%S").to_string();
    let readings = found
        .readings
        .iter()
        .map(|it| format!("{} {} to {}: {}", it.meter, time(it.from), time(it.until), it.kwh));
    let refused = found.refused.iter().map(|it| format!("refused {it}"));
    let resets = found.resets.iter().map(|it| {
        let (from, until) = (time(it.from), time(it.until));
        format!("reset row {} {} {from} to {until}: {} to {}", it.row, it.meter, it.before, it.after)
    });
    let gaps = found.gaps.iter().map(|it| format!("gap {} {} to {}", it.meter, it.from, it.until));
    let counts = [format!(
        "{:?}, {} rows, {} duplicates, {} starts",
        found.kind, found.rows, found.duplicates, found.starts
    )];
    let lines: Vec<String> = readings.chain(refused).chain(resets).chain(gaps).chain(counts).collect();
    lines.join("\n")
}

#[test]
fn intervals_are_taken_as_they_are_and_gaps_are_said() {
    let file = "\u{feff}meter,from,until,kwh\n\
                pdu-2,2026-09-01 00:00,2026-09-01 00:15,1.5\n\
                pdu-1,2026-09-01T00:15:00Z,2026-09-01T00:30:00Z,2.25\n\
                ,,,\n\
                pdu-1,2026-09-01T02:00:00+02:00,2026-09-01T02:15:00+02:00,\"1,200.5\"\n\
                pdu-2,2026-09-01 01:00,2026-09-01 01:15,0\n\
                pdu-2,2026-09-01 01:00:00,2026-09-01 01:15:00,0.00\n";
    insta::assert_snapshot!(lines(file), @r"
    pdu-1 01 00:00:00 to 01 00:15:00: 1200.5
    pdu-1 01 00:15:00 to 01 00:30:00: 2.25
    pdu-2 01 00:00:00 to 01 00:15:00: 1.5
    pdu-2 01 01:00:00 to 01 01:15:00: 0
    gap pdu-2 2026-09-01 00:15:00 UTC to 2026-09-01 01:00:00 UTC
    Intervals, 5 rows, 1 duplicates, 0 starts
    ");
}

#[test]
fn a_time_is_told_in_the_ways_that_people_write_it() {
    let of = |from: &str| lines(&format!("meter,from,until,kwh\na,{from},2026-09-01T01:00:00Z,1\n"));
    let plain = of("2026-09-01 00:00");
    for from in
        ["2026-09-01T00:00:00Z", "2026-09-01T00:00Z", "2026-09-01T02:00:00+02:00", "2026-09-01 00:00:00"]
    {
        assert_eq!(of(from), plain, "{from}");
    }
}

#[test]
fn an_end_that_is_the_last_second_of_an_interval_leaves_no_gap() {
    let file = "from,until,kwh\n2026-09-01 00:00:00,2026-09-01 00:14:59,1\n2026-09-01 00:15:00,2026-09-01 00:29:59,2\n\
                2026-09-01 00:30:01,2026-09-01 00:45:00,3\n";
    insta::assert_snapshot!(lines(file), @r"
    meter 01 00:00:00 to 01 00:15:00: 1
    meter 01 00:15:00 to 01 00:29:59: 2
    meter 01 00:30:01 to 01 00:45:00: 3
    gap meter 2026-09-01 00:29:59 UTC to 2026-09-01 00:30:01 UTC
    Intervals, 3 rows, 0 duplicates, 0 starts
    ");
}

#[test]
fn a_register_tells_what_it_grew_by() {
    let file = "timestamp,device,Total Energy (Wh),voltage\n\
                2026-09-01T01:00:00.9Z,a,1500,230\n\
                2026-09-01T00:00:00Z,a,1000,231\n\
                2026-09-01T02:00:00Z,a,1500,230\n\
                2026-09-01T02:00:00Z,a,1500.0,230\n\
                2026-09-01T00:00:00Z,b,7e3,230\n";
    insta::assert_snapshot!(lines(file), @r"
    a 01 00:00:00 to 01 01:00:00: 0.5
    a 01 01:00:00 to 01 02:00:00: 0
    Register, 5 rows, 1 duplicates, 2 starts
    ");
}

#[test]
fn a_register_that_falls_far_began_anew_and_one_that_falls_little_is_refused() {
    let file = "meter,at,kwh\n\
                a,2026-09-01 00:00,99000\n\
                a,2026-09-01 01:00,99010\n\
                a,2026-09-01 02:00,98500\n\
                a,2026-09-01 03:00,99030\n\
                a,2026-09-01 04:00,12.5\n\
                a,2026-09-01 05:00,20\n\
                a,2026-09-01 05:00,21\n\
                a,2028-09-01 05:00,5000\n\
                a,2028-09-01 06:00,5001\n";
    insta::assert_snapshot!(lines(file), @r#"
    a 01 00:00:00 to 01 01:00:00: 10
    a 01 01:00:00 to 01 03:00:00: 20
    a 01 03:00:00 to 01 04:00:00: 12.5
    a 01 04:00:00 to 01 05:00:00: 7.5
    a 01 05:00:00 to 01 06:00:00: 1
    refused row 3, kwh: found "98500", expected no less than in row 2, 99010: a meter does not run backwards
    refused row 7, kwh: found "21", expected 20, as row 6 states for this time
    reset row 5 a 01 03:00:00 to 01 04:00:00: 99030 to 12.5
    gap a 2026-09-01 05:00:00 UTC to 2028-09-01 05:00:00 UTC
    Register, 9 rows, 0 duplicates, 2 starts
    "#);
}

#[test]
fn a_register_that_falls_by_a_little_or_a_lot_runs_backwards_unless_it_begins_anew() {
    for (after, is_anew) in [("1029", false), ("900", false), ("103", false), ("102.9", true), ("0", true)] {
        let file = format!(
            "meter,at,kwh\na,2026-09-01 00:00,1000\na,2026-09-01 01:00,1030\na,2026-09-01 02:00,{after}\n"
        );
        let found = read(file.as_bytes()).unwrap();
        assert_eq!(
            (found.resets.len(), found.refused.len()),
            if is_anew { (1, 0) } else { (0, 1) },
            "{after}"
        );
    }
}

#[test]
fn power_holds_until_the_next_sample_but_not_across_a_gap() {
    // 3600 W are a watt-hour a second.
    let file = "time,node,power_w\n\
                2026-09-01 00:00,n1,3600\n\
                2026-09-01 00:01,n1,1800\n\
                2026-09-01 00:03,n1,3600\n\
                2026-09-01 00:03,n1,3600\n\
                2026-09-01 00:04,n1,7200\n\
                2026-09-01 01:00,n1,1000\n\
                2026-09-01 00:00,n2,500\n";
    insta::assert_snapshot!(lines(file), @r"
    n1 01 00:00:00 to 01 00:01:00: 0.06
    n1 01 00:01:00 to 01 00:03:00: 0.06
    n1 01 00:03:00 to 01 00:04:00: 0.06
    n1 01 00:04:00 to 01 00:05:00: 0.12
    n1 01 01:00:00 to 01 01:01:00: 0.016666666666667
    gap n1 2026-09-01 00:05:00 UTC to 2026-09-01 01:00:00 UTC
    Power, 7 rows, 1 duplicates, 1 starts
    ");
}

#[test]
fn mean_power_between_two_times_is_energy_too() {
    let file = "start,end,kW\n2026-09-01 00:00,2026-09-01 00:15,8.4\n2026-09-01 00:15,2026-09-01 00:16,1\n";
    insta::assert_snapshot!(lines(file), @r"
    meter 01 00:00:00 to 01 00:15:00: 2.1
    meter 01 00:15:00 to 01 00:16:00: 0.016666666666667
    Intervals, 2 rows, 0 duplicates, 0 starts
    ");
}

#[test]
fn columns_are_known_by_the_words_in_their_names() {
    let read_as = |header: &str| {
        let fields = header.split(',').count();
        let times = "2026-09-01 00:00,2026-09-01 01:00";
        let row = if fields > 2 { format!("{times},1500") } else { "2026-09-01 00:00,1500".to_owned() };
        let found = read(format!("{header}\n{row}\n").as_bytes());
        found.map(|file| (file.kind, file.readings.first().map(|it| it.kwh.to_string()).unwrap_or_default()))
    };
    for (header, kind, kwh) in [
        ("from,until,kwh", Kind::Intervals, "1500"),
        ("From,To,Energy (kWh)", Kind::Intervals, "1500"),
        ("interval_start,interval_end,energy_wh", Kind::Intervals, "1.5"),
        ("Start Time (UTC),End Time (UTC),MWh", Kind::Intervals, "1500000"),
        ("start,end,consumption", Kind::Intervals, "1500"),
        ("start,end,mean power W", Kind::Intervals, "1.5"),
        ("at,total_kwh", Kind::Register, ""),
        ("timestamp,Meter Reading [kWh]", Kind::Register, ""),
        ("DateTime,cumulative_wh", Kind::Register, ""),
        ("ts,watts", Kind::Power, ""),
        ("time,power_kw", Kind::Power, ""),
    ] {
        assert_eq!(read_as(header), Ok((kind, kwh.to_owned())), "{header}");
    }
    let beside =
        "from,until,usage kwh,mean kW,max kW,cost per kWh\n2026-09-01 00:00,2026-09-01 01:00,5,6,7,8\n";
    assert_eq!(read(beside.as_bytes()).unwrap().readings[0].kwh, Decimal::from(5));
}

#[test]
fn it_says_what_is_wrong_with_a_header() {
    let described = |file: &str| read(file.as_bytes()).unwrap_err().to_string();
    let all = "expected the columns meter,from,until,kwh (energy of an interval), meter,at,total_kwh (a register that \
               grows) or meter,at,watts (power); missing:";
    assert_eq!(described(""), format!(r#"row 0, header: found "", {all} times and values"#));
    assert_eq!(described("a,b\n"), format!(r#"row 0, header: found "a,b", {all} times and values"#));
    assert_eq!(
        described("at,power\n"),
        format!(r#"row 0, header: found "at,power", {all} values with their unit"#)
    );
    assert_eq!(described("from,kwh\n"), format!(r#"row 0, header: found "from,kwh", {all} times"#));
    assert!(described("at;kwh\n").contains("save it with commas"));
    assert_eq!(
        described("from,until,total_kwh\n"),
        r#"row 0, header: found "total_kwh", expected the energy of each interval (kwh); a register has one time (at)"#
    );
    assert_eq!(
        described("from,until,kwh in,kwh out\n"),
        r#"row 0, header: found "kwh in,kwh out", expected one column of values; leave out the others"#
    );
    assert_eq!(
        described("pdu,outlet,at,watts\n"),
        r#"row 0, header: found "pdu,outlet", expected one column for the meter; call it meter"#
    );
    assert!(read(b"pdu,outlet,meter,at,watts\n").is_ok());
    let energies = "meter,at,kwh\na,2026-09-01 00:00,5\na,2026-09-01 01:00,6\na,2026-09-01 02:00,4\na,2026-09-01 03:00,6\n\
                    a,2026-09-01 04:00,3\na,2026-09-01 05:00,4\na,2026-09-01 06:00,1\n";
    assert_eq!(
        described(energies),
        r#"row 0, kwh: found "values of a that fall in 3 of 7 rows", expected a register that grows; for the energy of intervals say from and until"#
    );
}

#[test]
fn it_says_where_a_row_is_wrong_and_takes_the_others() {
    let good = "a,2026-09-01 00:00,2026-09-01 01:00,1";
    for (row, problem) in [
        (
            "a,01/09/2026 00:00,2026-09-01 01:00,1",
            r#"row 2, from: found "01/09/2026 00:00", expected a time such as 2026-09-30T14:15:00Z"#,
        ),
        ("a,2026-09-01 00:00,,1", r#"row 2, until: found "", expected a time"#),
        (
            "a,1959-09-01 00:00,1959-09-02 00:00,1",
            r#"row 2, from: found "1959-09-01 00:00", expected a time"#,
        ),
        (
            "a,2026-09-01 02:00,2026-09-01 01:00,1",
            r#"row 2, until: found "2026-09-01 01:00", expected a time after 2026-09-01 02:00"#,
        ),
        (
            "a,2026-09-01 02:00,2036-09-01 01:00,1",
            r#"row 2, until: found "2036-09-01 01:00", expected a time at most a year after"#,
        ),
        (
            "a,2026-09-01 00:30,2026-09-01 01:30,1",
            r#"row 2, from: found "2026-09-01 00:30:00 to 2026-09-01 01:30:00", expected an interval that does not overlap that of row 1, 2026-09-01 00:00:00 to 2026-09-01 01:00:00"#,
        ),
        (
            "a,2026-09-01 00:00,2026-09-01 01:00,2",
            r#"row 2, kwh: found "2", expected 1, as row 1 states for this time"#,
        ),
        (
            "b,2026-09-01 00:00,2026-09-01 01:00,-1",
            r#"row 2, kwh: found "-1", expected a number of zero or more; what is fed back needs a meter of its own"#,
        ),
        (
            "b,2026-09-01 00:00,2026-09-01 01:00,\"1,200\"",
            r#"row 2, kwh: found "1,200", expected a number such as 1200 or 1,200.5; a single comma"#,
        ),
        ("b,2026-09-01 00:00,2026-09-01 01:00,NaN", r#"row 2, kwh: found "NaN", expected a number of zero"#),
        ("b,2026-09-01 00:00,2026-09-01 01:00,1e13", r#"row 2, kwh: found "1e13""#),
        ("b,2026-09-01 00:00,2026-09-01 01:00", r#"row 2, kwh: found """#),
        (",2026-09-01 00:00,2026-09-01 01:00,1", r#"row 2, meter: found "", expected the name of a meter"#),
    ] {
        let file = format!("meter,from,until,kwh\n{good}\n{row}\n");
        let found = read(file.as_bytes()).unwrap();
        assert_eq!((found.rows, found.readings.len(), found.refused.len()), (2, 1, 1), "{row}");
        let refused = found.refused[0].to_string();
        assert!(refused.starts_with(problem), "{refused}\n{problem}");
    }
    let broken = read(b"meter,from,until,kwh\n\xff,2026-09-01 00:00,2026-09-01 01:00,1\na,2026-09-01 00:00,2026-09-01 01:00,1\n");
    let broken = broken.unwrap();
    assert_eq!(
        (broken.readings.len(), broken.refused[0].row, broken.refused[0].column.as_str()),
        (1, 1, "line")
    );
}

/// Whatever is in a file, every row is accounted for, and the readings of a meter follow each other.
fn is_sound(content: &[u8]) -> Result<(), TestCaseError> {
    let Ok(file) = read(content) else { return Ok(()) };
    prop_assert_eq!(file.rows, file.readings.len() + file.refused.len() + file.duplicates + file.starts);
    for pair in file.readings.windows(2) {
        prop_assert!(pair[0].meter != pair[1].meter || pair[0].until <= pair[1].from);
    }
    for reading in &file.readings {
        prop_assert!(
            reading.from < reading.until && !reading.kwh.is_negative() && reading.kwh.scale() <= PLACES
        );
    }
    Ok(())
}

fn cell() -> impl Strategy<Value = String> {
    let time =
        (0i64..40, 0u8..60).prop_map(|(minute, second)| format!("2026-09-01 00:{minute:02}:{second:02}"));
    let number = (0u32..50_000, 0u8..4)
        .prop_map(|(mantissa, scale)| Decimal::new(i128::from(mantissa), scale).to_string());
    let odd = prop::sample::select(
        &[
            "",
            "-1",
            "1e-40",
            "1e11",
            "999999999999.9999999999999999999999999999999999999999",
            "\"",
            "9999-12-31 23:59",
            "a",
            "1970-01-01T00:00:00-23:59",
            "2016-12-31T23:59:60Z",
        ][..],
    );
    prop_oneof![8 => time, 8 => number, 1 => odd.prop_map(str::to_owned)]
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(start in "(meter,at,kwh\n|at,watts\n|from,until,kwh\n)?", bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        is_sound(&[start.as_bytes(), &bytes].concat())?;
    }

    #[test]
    fn every_row_of_any_table_is_accounted_for(
        header in prop::sample::select(&["meter,from,until,kwh", "from,until,watts", "meter,at,kwh", "at,total_wh", "meter,at,watts", "at,kw"][..]),
        rows in proptest::collection::vec((prop::sample::select(&["a", "b"][..]), cell(), cell(), cell()), 0..40),
    ) {
        let rows = rows.iter().map(|(meter, first, second, third)| match header {
            "meter,from,until,kwh" => format!("{meter},{first},{second},{third}\n"),
            "from,until,watts" => format!("{first},{second},{third}\n"),
            "meter,at,kwh" | "meter,at,watts" => format!("{meter},{first},{third}\n"),
            _ => format!("{first},{third}\n"),
        });
        is_sound(format!("{header}\n{}", rows.collect::<String>()).as_bytes())?;
    }

    #[test]
    fn what_a_register_grew_by_is_what_its_readings_sum_to(steps in proptest::collection::vec(0u32..100_000, 1..50)) {
        let mut value = Decimal::ZERO;
        let mut lines = vec!["at,total_kwh".to_owned()];
        for (minute, step) in steps.iter().enumerate() {
            value += Decimal::new(i128::from(*step), 3);
            lines.push(format!("2026-09-01T{:02}:{:02}:00Z,{value}", minute / 60, minute % 60));
        }
        let found = read(lines.join("\n").as_bytes()).unwrap();
        let sum: Decimal = found.readings.iter().map(|reading| reading.kwh).sum();
        prop_assert_eq!(sum, value - Decimal::new(i128::from(steps[0]), 3));
    }
}
