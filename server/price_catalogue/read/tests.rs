//! What public lists of prices are known to get wrong, each by its name. The rows are made up after them.

use proptest::prelude::*;

use super::*;
use crate::money::number;
use crate::price_catalogue::{Catalogue, Mark, shipped};

fn about(supplier: &str) -> About {
    About {
        supplier: (!supplier.is_empty()).then(|| supplier.to_owned()),
        date: "2026-11-20".parse().unwrap(),
        source: "a file".into(),
        today: "2026-11-22".parse().unwrap(),
    }
}

const SKYPILOT: &str =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,Price,Region,GpuInfo,SpotPrice\n";
const GPUHUNT: &str =
    "instance_name,location,price,cpu,memory,gpu_vendor,gpu_count,gpu_name,gpu_memory,spot,disk_size,flags\n";

fn skypilot(supplier: &str, rows: &str) -> Read {
    read(format!("{SKYPILOT}{rows}").as_bytes(), &about(supplier)).unwrap()
}

fn gpuhunt(supplier: &str, rows: &str) -> Read {
    read(format!("{GPUHUNT}{rows}").as_bytes(), &about(supplier)).unwrap()
}

/// Accelerator, how many, tier, price of one.
fn described(read: &Read) -> Vec<(String, String, &'static str, String)> {
    let of = |price: &Price| {
        let gpus = price.gpus.map(|it| it.to_string()).unwrap_or_default();
        (price.accelerator.clone(), gpus, price.tier.as_str(), price.amount.to_string())
    };
    read.prices.iter().map(|(_, price)| of(price)).collect()
}

fn line(
    accelerator: &str,
    gpus: &str,
    tier: &'static str,
    amount: &str,
) -> (String, String, &'static str, String) {
    (accelerator.to_owned(), gpus.to_owned(), tier, amount.to_owned())
}

fn reasons(read: &Read) -> Vec<(&str, usize)> {
    read.skipped.iter().map(|it| (it.reason.as_str(), it.count)).collect()
}

fn info(mib: u32) -> String {
    format!(
        "\"{{'Gpus': [{{'Name': 'X', 'MemoryInfo': {{'SizeInMiB': {mib}}}}}], 'TotalGpuMemoryInMiB': 7}}\""
    )
}

#[test]
fn a_price_of_zero_means_that_it_is_not_sold() {
    let read = skypilot(
        "AWS",
        "p5e.48xlarge,H200,8.0,192,2048,0.0,us-east-2,,\n\
         p4d.24xlarge,A100,8.0,96,1152,0.0,us-east-2,,0\n\
         p5.48xlarge,H100,8.0,192,2048,55.04,us-east-2,,0.0\n",
    );
    assert_eq!(described(&read), [line("nvidia-h100-sxm", "8", "on-demand", "6.88")]);
    assert_eq!(reasons(&read), [("0.0: not sold", 3)]);
    let other = gpuhunt("AWS", "trn2.48xlarge,us-east-1,0.0,192,2048,aws,16,Trainium2,96,False,,\n");
    assert_eq!((other.prices.len(), reasons(&other)), (0, vec![("0.0: not sold", 1)]));
    let ours = read_plain("nvidia-h100-sxm,Someone,on-demand,0.0\n");
    assert_eq!((ours.prices.len(), reasons(&ours)), (0, vec![("0.0: not sold", 1)]));
}

#[test]
fn a_jump_and_a_spread_between_sources_are_flagged() {
    // Once a feed had prices of dedicated hosts for eight months: 39.33 for 32.7726, and 5.223 for 0.526.
    let list = Catalogue::shipped();
    let today = "2026-08-01".parse().unwrap();
    let read = skypilot(
        "AWS",
        "p4d.24xlarge,A100,8,96,1152,39.33,us-east-1,,\ng4dn.xlarge,T4,1,4,16,5.223,us-east-1,,\n",
    );
    let [(_, p4d), (_, t4)] = read.prices.as_slice() else { panic!("{read:?}") };
    let before = Price { amount: number("4.096575"), date: "2026-11-19".parse().unwrap(), ..p4d.clone() };
    let marks = list.marks_of(p4d, Some(&before), today);
    assert!(
        matches!(marks.as_slice(), [Mark::Jump { share, .. }] if share.round(2) == number("0.20")),
        "{marks:?}"
    );
    // Of the other it is known what the rest costs.
    let kinds: Vec<Price> = ["0.526", "0.60", "0.71"]
        .iter()
        .enumerate()
        .map(|(n, amount)| Price { amount: number(amount), supplier: format!("S{n}"), ..t4.clone() })
        .chain([t4.clone()])
        .collect();
    let with = Catalogue::with(kinds, &std::collections::BTreeSet::new());
    let marks = with.marks_of(t4, None, today);
    assert!(matches!(marks.as_slice(), [Mark::FarAbove { .. }]), "{marks:?}");
}

#[test]
fn google_hosts_are_priced_with_the_row_of_their_accelerators() {
    let rows = "a2-highgpu-1g,,,12,85,0.73948,us-central1,,0.36\n\
                ,A100,1.0,,,2.933905,us-central1,,1.1\n\
                a2-highgpu-2g,A100,2,24,170,1.47896,us-central1,,\n\
                ,T4,1.0,,,0.35,us-central1,,0.1\n\
                n1-standard-8,,,8,30,0.38,us-central1,,0.08\n";
    let read = skypilot("gcp", rows);
    let expected = [
        line("nvidia-a100-sxm-40", "1", "on-demand", "3.673385"),
        line("nvidia-a100-sxm-40", "1", "spot", "1.46"),
    ];
    assert_eq!(described(&read), expected);
    let expected = [
        ("an accelerator alone: its host is a row of its own", 2),
        ("the price of a host alone, without a row of its accelerators", 1),
        ("without accelerators", 1),
    ];
    assert_eq!(reasons(&read), expected);
}

#[test]
fn a_price_of_spot_that_equals_on_demand_is_no_quote() {
    let read = skypilot("RunPod", "1x_H100_SECURE,H100,1.0,16,80,3.99,US,,3.99\n");
    assert_eq!(described(&read), [line("nvidia-h100-sxm", "1", "on-demand", "3.99")]);
    assert_eq!(reasons(&read), [("a price of spot that is not below on demand: no quote", 1)]);
}

#[test]
fn what_is_no_quote_is_none_in_every_list() {
    let spot = gpuhunt(
        "runpod",
        "H100,US,3.99,16,80,nvidia,1,H100,80,False,,\nH100,US,3.99,16,80,nvidia,1,H100,80,True,,\n\
         H100,EU,3.99,16,80,nvidia,1,H100,80,False,,\nH100,EU,1.99,16,80,nvidia,1,H100,80,True,,\n",
    );
    let on_demand = line("nvidia-h100-sxm", "1", "on-demand", "3.99");
    assert_eq!(
        described(&spot),
        [on_demand.clone(), on_demand, line("nvidia-h100-sxm", "1", "spot", "1.99")]
    );
    assert_eq!(spot.skipped[0].first_row, 2);
    assert_eq!(reasons(&spot), [("a price of spot that is not below on demand: no quote", 1)]);
    let ours = read_plain("H100 SXM,RunPod,spot,3.99\nH100 SXM,RunPod,on-demand,3.99\n");
    assert_eq!((ours.prices.len(), reasons(&ours)), (1, reasons(&spot)));
    let alone = [("a price on demand of what is sold as spot alone", 1)];
    let read_google = gpuhunt("gcp", "a3-highgpu-2g,us-central1,22,52,468,nvidia,2,H100,80,False,,\n");
    assert_eq!((read_google.prices.len(), reasons(&read_google)), (0, alone.to_vec()));
    let head = "accelerator,supplier,tier,price,sku\n";
    let ours =
        read(format!("{head}H100 SXM,gcp,on-demand,11,a3-highgpu-1g\n").as_bytes(), &about("")).unwrap();
    assert_eq!((ours.prices.len(), reasons(&ours)), (0, alone.to_vec()));
}

#[test]
fn a_host_whose_accelerators_have_no_price_is_skipped_in_words() {
    let read = skypilot("gcp", "a2-highgpu-1g,,,12,85,0.73948,us-central1,,\n,A100,1.0,,,,us-central1,,\n");
    assert_eq!(read.prices.len(), 0);
    let reason = "the price of a host alone: the row of its accelerators has none";
    assert!(reasons(&read).contains(&(reason, 1)), "{read:?}");
}

#[test]
fn what_runpod_sells_of_others_is_a_marketplace() {
    let rows = "1x_H100_SECURE,H100,1.0,16,80,3.99,US,,\n1x_H100_COMMUNITY,H100,1.0,16,80,2.69,US,,\n";
    let expected = [
        line("nvidia-h100-sxm", "1", "on-demand", "3.99"),
        line("nvidia-h100-sxm", "1", "marketplace", "2.69"),
    ];
    let read = skypilot("runpod", rows);
    assert_eq!(described(&read), expected);
    assert!(read.prices.iter().all(|(_, price)| price.supplier == "RunPod"));
}

#[test]
fn memory_is_read_in_whichever_unit_it_stands() {
    // GiB under the name of MiB; and totals that are of one, or of all.
    for (mib, expected) in
        [(80, "nvidia-a100-sxm-80"), (81_920, "nvidia-a100-sxm-80"), (40, "nvidia-a100-sxm-40")]
    {
        let read = skypilot("RunPod", &format!("1x_A100,A100,1.0,16,80,1.79,US,{},\n", info(mib)));
        assert_eq!(described(&read), [line(expected, "1", "on-demand", "1.79")], "{mib}");
    }
}

#[test]
fn a_part_of_an_accelerator_is_priced_as_a_whole_one() {
    let partition = "\"{'Gpus': [{'Count': 0, 'GpuPartitionSize': 0.25}]}\"";
    let rows = format!(
        "g6f.xlarge,L4,0.0,4,16,0.2375,us-east-1,,\n\
         somewhat.new,L4,0,4,16,0.50,us-east-1,{partition},\n\
         other.new,L4,0,4,16,0.50,us-east-1,,\n"
    );
    let read = skypilot("AWS", &rows);
    let expected = [line("nvidia-l4", "1/8", "on-demand", "1.9"), line("nvidia-l4", "1/4", "on-demand", "2")];
    assert_eq!(described(&read), expected);
    let rejected = &read.rejected[0];
    assert_eq!(
        (rejected.row, rejected.column.as_str(), rejected.found.as_str()),
        (3, "AcceleratorCount", "0")
    );
    let azure = skypilot("Azure", "Standard_NV6ads_A10_v5,A10,1.0,6,55,0.454,eastus,,\n");
    assert_eq!(described(&azure), [line("nvidia-a10", "1/6", "on-demand", "2.724")]);
    let google = gpuhunt("gcp", "g4-standard-12,us-central1,1.125,12,45,nvidia,0,RTXPRO6000,24,False,,\n");
    assert_eq!(described(&google), [line("nvidia-rtx-pro-6000", "1/4", "on-demand", "4.5")]);
}

#[test]
fn one_name_of_several_parts_is_told_by_the_machine_or_its_memory() {
    let read = skypilot(
        "Azure",
        "Standard_NC40ads_H100_v5,H100,1.0,40,320,8.82,eastus,,\n\
         Standard_ND96amsr_A100_v4,A100,8,96,1900,32.77,eastus,,\n",
    );
    let models: Vec<&str> = read.prices.iter().map(|(_, it)| it.accelerator.as_str()).collect();
    assert_eq!(models, ["nvidia-h100-nvl", "nvidia-a100-sxm-80"]);
    let read = gpuhunt(
        "Someone",
        "a,eu,3,8,64,nvidia,1,H100,94,False,,\nb,eu,3,8,64,nvidia,1,H100NVL,94,False,,\n\
         c,eu,3,8,64,nvidia,1,A100,80,False,,\nd,eu,3,8,64,nvidia,1,A100,40,False,,\n",
    );
    let models: Vec<&str> = read.prices.iter().map(|(_, it)| it.accelerator.as_str()).collect();
    assert_eq!(models, ["nvidia-h100-nvl", "nvidia-h100-nvl", "nvidia-a100-sxm-80", "nvidia-a100-sxm-40"]);
}

#[test]
fn memory_below_or_above_what_is_sold_is_still_the_model() {
    for (name, mib, expected) in [
        ("A10G", 22_888, "nvidia-a10g"),
        ("L4", 22_888, "nvidia-l4"),
        ("L40S", 45_776, "nvidia-l40s"),
        ("H200", 144_384, "nvidia-h200-sxm"),
        ("B200", 183_359, "nvidia-b200"),
        ("B300", 275_040, "nvidia-b300"),
        ("H100", 81_559, "nvidia-h100-sxm"),
    ] {
        let read = skypilot("Someone", &format!("x,{name},1,8,64,2,eu,{},\n", info(mib)));
        assert_eq!(read.prices[0].1.accelerator, expected, "{name}");
    }
}

#[test]
fn of_conflicting_readings_the_newest_holds_and_the_other_is_shown() {
    let offer = shipped().iter().filter(|it| it.sku == "Standard_NC48ads_A100_v4").collect::<Vec<_>>();
    assert_eq!(offer.len(), 2);
    let list = Catalogue::shipped();
    let it = list.find(&offer[0].offer()).unwrap();
    assert_eq!((it.price.amount, it.price.date), (number("4.777"), "2026-11-09".parse().unwrap()));
    assert_eq!((it.others.len(), it.others[0].price.amount), (1, number("3.673")));
    let marks = list.marks(it, "2026-11-20".parse().unwrap());
    assert!(matches!(marks.as_slice(), [Mark::Jump { share, .. }] if share.round(2) == number("0.30")));
}

#[test]
fn a_price_on_demand_of_what_is_sold_as_spot_alone_is_none() {
    let rows = "a3-highgpu-1g,H100,1,26,234,1.1,us-central1,,0.5\n,H100,1,,,10,us-central1,,4\n\
                a3-highgpu-8g,H100,8,208,1872,8.5,us-central1,,4\n,H100,8,,,80,us-central1,,40\n";
    let read = skypilot("Google Cloud", rows);
    let expected = [
        line("nvidia-h100-sxm", "1", "spot", "4.5"),
        line("nvidia-h100-sxm", "8", "on-demand", "11.0625"),
        line("nvidia-h100-sxm", "8", "spot", "5.5"),
    ];
    assert_eq!(described(&read), expected);
    assert!(reasons(&read).contains(&("a price on demand of what is sold as spot alone", 1)));
}

#[test]
fn zones_of_one_region_are_one_offer_at_its_cheapest() {
    let read = skypilot(
        "AWS",
        "p5.48xlarge,H100,8,192,2048,55.04,us-east-1,,24\np5.48xlarge,H100,8,192,2048,55.04,us-east-1,,20\n",
    );
    let expected =
        [line("nvidia-h100-sxm", "8", "on-demand", "6.88"), line("nvidia-h100-sxm", "8", "spot", "2.5")];
    assert_eq!(described(&read), expected);
    assert_eq!(reasons(&read).iter().map(|it| it.1).sum::<usize>(), 2);
}

#[test]
fn a_count_that_is_not_that_of_the_machine_is_rejected() {
    let read = skypilot("AWS", "p5.48xlarge,H100,4,192,2048,55.04,us-east-1,,\n");
    assert_eq!(read.rejected[0].expected, "8, as many as p5.48xlarge has");
    let read = gpuhunt("aws", "p5.48xlarge,us-east-1,55.04,192,2048,nvidia,4,H100,80,False,,\n");
    let rejected = &read.rejected[0];
    assert_eq!((rejected.column.as_str(), rejected.found.as_str()), ("gpu_count", "4"));
    assert_eq!(rejected.expected, "8, as many as p5.48xlarge has");
    let read = skypilot("Someone", "x,H100,zero,1,1,5,eu,,\ny,H100,1,1,1,USD 5,eu,,\nz,H100,1,1,1,-5,eu,,\n");
    let described: Vec<_> =
        read.rejected.iter().map(|it| (it.row, it.column.as_str(), it.found.as_str())).collect();
    assert_eq!(described, [(1, "AcceleratorCount", "zero"), (2, "price", "USD 5"), (3, "price", "-5")]);
}

#[test]
fn spot_and_marketplaces_of_gpuhunt_are_distinguished() {
    let read = gpuhunt(
        "vastai",
        "1,eu,2.4,8,64,nvidia,1,H100,80,False,,\n2,eu,1.4,8,64,nvidia,1,H100,80,True,,\n3,eu,1,8,64,nvidia,0,,,False,,\n\
         4,eu,1,8,64,nvidia,1,RTX3060,12,False,,\n5,eu,1,8,64,nvidia,1,H100,80,perhaps,,\n",
    );
    let expected =
        [line("nvidia-h100-sxm", "1", "marketplace", "2.4"), line("nvidia-h100-sxm", "1", "spot", "1.4")];
    assert_eq!(described(&read), expected);
    let expected = [("without accelerators", 1), ("no model of the catalog is called “RTX3060”", 1)];
    assert_eq!(reasons(&read), expected);
    assert_eq!((read.rejected_count, read.rejected[0].column.as_str()), (1, "spot"));
}

fn read_plain(rows: &str) -> Read {
    read(format!("accelerator,supplier,tier,price\n{rows}").as_bytes(), &about("")).unwrap()
}

#[test]
fn our_own_list_needs_four_columns_and_says_what_is_wrong_with_a_row() {
    let read = read_plain("H100 SXM,azure,on-demand,6.98\n,,,\nH100,Nobody,on-demand,\nH100,N,weekly,3\n");
    let price = &read.prices[0].1;
    assert_eq!((price.accelerator.as_str(), price.supplier.as_str()), ("nvidia-h100-sxm", "Microsoft"));
    assert_eq!((price.paid, price.currency.as_str(), price.date), (Paid::PerUse, "USD", about("").date));
    let columns: Vec<_> = read.rejected.iter().map(|it| (it.row, it.column.as_str())).collect();
    assert_eq!(columns, [(2, "accelerator"), (3, "price"), (4, "tier")]);
}

#[test]
fn a_row_with_a_nul_or_a_text_without_end_is_rejected() {
    let long = "x".repeat(LONGEST + 1);
    let fits = "x".repeat(LONGEST);
    let read = read_plain(&format!(
        "nvidia-h100-sxm,A\0B,on-demand,3\nnvidia-h100-sxm,{long},on-demand,3\nnvidia-h100-sxm,{fits},on-demand,3\n"
    ));
    let described: Vec<_> = read
        .rejected
        .iter()
        .map(|it| (it.row, it.column.as_str(), it.found.chars().count(), it.expected.as_str()))
        .collect();
    let expected =
        [(1, "supplier", 3, "text without a NUL character"), (2, "supplier", 100, "200 characters at most")];
    assert_eq!((described.as_slice(), read.prices.len()), (expected.as_slice(), 1));
    assert_eq!(read.rejected[0].found, "A\u{fffd}B");
}

#[test]
fn of_many_reasons_to_skip_the_first_are_told_and_names_are_cut() {
    let name = |at: usize| format!("{at}-{}", "Abacus".repeat(30));
    let rows: Vec<String> = (0..60).map(|at| format!("{at},m{at},{},1,1\n", name(at))).collect();
    let rows = rows.concat();
    let content =
        format!("a,instance_name,gpu_name,gpu_count,price\n{}{}", rows.replace("Abacus", "Ab"), rows);
    let read = read(content.as_bytes(), &about("Someone")).unwrap();
    assert_eq!(read.skipped.iter().map(|it| it.count).sum::<usize>(), 120);
    assert_eq!((read.skipped.len(), read.skipped[REASONS].reason.as_str()), (REASONS + 1, "other reasons"));
    assert_eq!(read.skipped[REASONS].count, 70);
    assert!(read.skipped.iter().all(|it| it.reason.chars().count() < NAME + 50), "{:?}", read.skipped[0]);
}

#[test]
fn a_list_without_end_is_refused() {
    let rows = |count: usize| format!("accelerator,supplier,tier,price\n{}", "a,b,c,d\n".repeat(count));
    assert_eq!(read(rows(MOST_ROWS).as_bytes(), &about("")).unwrap().rows, MOST_ROWS);
    let refused = read(rows(MOST_ROWS + 1).as_bytes(), &about("")).unwrap_err();
    assert_eq!(refused, "it has more than 300,000 rows: send it in parts");
}

#[test]
fn our_own_list_is_read_back_as_it_was_written() {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for price in shipped() {
        writer.serialize(price).unwrap();
    }
    let read = read(&writer.into_inner().unwrap(), &about("")).unwrap();
    assert_eq!((read.rejected_count, read.skipped.len()), (0, 0), "{:?}", read.rejected);
    let prices: Vec<Price> = read.prices.into_iter().map(|(_, price)| price).collect();
    let normal = |price: &Price| Price { amount: price.amount.normalize(), ..price.clone() };
    assert_eq!(prices, shipped().iter().map(normal).collect::<Vec<_>>());
}

#[test]
fn what_is_no_list_of_prices_is_refused_in_words() {
    assert!(read(b"", &about("")).unwrap_err().contains("names no columns"));
    assert!(read(b"a,b\n1,2\n", &about("")).unwrap_err().contains("Found: a, b"));
    assert!(read(&[0xff, 0xfe, 0x00], &about("")).is_err());
    let nobody = read(format!("{SKYPILOT}x,H100,1,1,1,1,eu,,\n").as_bytes(), &about(" "));
    assert!(nobody.unwrap_err().contains("enter the supplier"));
}

/// A cell that is likely to go wrong.
fn cell() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9.eE+-]{0,12}",
        "\\PC{0,12}",
        Just(String::new()),
        Just("H100".into()),
        Just("A100".into()),
        Just("8".into()),
        Just("1/3".into()),
        Just("a2-highgpu-1g".into()),
        Just("p5.48xlarge".into()),
        Just("1e40".into()),
        Just("0.00000000000000000000000000000001".into()),
        Just("{'SizeInMiB': 81559".into()),
        Just("on-demand".into()),
    ]
}

proptest! {
    #[test]
    fn no_input_panics(head in 0usize..3, rows in prop::collection::vec(prop::collection::vec(cell(), 0..14), 0..8)) {
        let heads = [SKYPILOT, GPUHUNT, "accelerator,supplier,tier,price,paid,currency,gpus,sku,region,date,source\n"];
        let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(Vec::new());
        for row in &rows {
            writer.write_record(row.iter().map(String::as_str).chain([""])).unwrap();
        }
        let content = [heads[head].as_bytes(), &writer.into_inner().unwrap()].concat();
        for supplier in ["gcp", "Someone"] {
            let read = read(&content, &about(supplier)).unwrap();
            prop_assert_eq!(read.rejected.len(), read.rejected_count);
            for (_, price) in &read.prices {
                prop_assert!(price.amount > Decimal::ZERO && price.amount <= MOST.into());
                prop_assert!(price.tier.takes(price.paid));
            }
            let prices: Vec<Price> = read.prices.into_iter().map(|(_, price)| price).collect();
            let list = Catalogue::with(prices, &std::collections::BTreeSet::new());
            for it in list.listed() {
                list.marks(it, about("").date);
            }
        }
    }

    #[test]
    fn no_bytes_panic(content in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&content, &about("Someone"));
    }
}
