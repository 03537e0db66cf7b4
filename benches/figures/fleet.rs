//! A fleet of machines with eight GPUs each: their bill, what a Prometheus saw of them, and what Slurm says of others. Nothing of it
//! comes from the product, and no rows are in an order that helps it.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use chrono::{DateTime, Datelike as _, NaiveDate, Utc};

/// GPUs of a machine.
pub const GPUS: u64 = 8;
const MINUTES: u64 = 24 * 60;
/// How pods divide a machine, one of these for a week.
const LAYOUTS: [&[u64]; 6] =
    [&[8], &[4, 4], &[4, 2, 1, 1], &[2, 2, 2, 2], &[1, 1, 1, 1, 1, 1, 1, 1], &[2, 1, 1, 4]];
const NAMESPACES: u64 = 40;

/// The same for the same number, and of no order.
pub fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn shuffled<T>(items: &mut [T], seed: u64) {
    for place in (1..items.len()).rev() {
        items.swap(place, (mixed(seed + place as u64) % (place as u64 + 1)) as usize);
    }
}

/// The name of a machine, which is its ResourceId.
pub fn machine(number: u64) -> String {
    format!("i-{:017x}", mixed(number) >> 8)
}

/// Writes the bill of a month: a row an hour of each machine.
pub fn write_bill(path: &Path, machines: u64, month: NaiveDate) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    let after = month.checked_add_months(chrono::Months::new(1)).unwrap();
    writeln!(
        out,
        "ProviderName,BillingAccountId,SubAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,\
         ChargeCategory,PricingCategory,ServiceName,ServiceCategory,SkuId,RegionId,ResourceId,SkuPriceDetails,ConsumedQuantity,\
         ConsumedUnit,BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,Tags,InvoiceIssuerName,PublisherName"
    )
    .unwrap();
    let hours = 24 * (after - month).num_days().unsigned_abs();
    let mut rows: Vec<(u64, u64)> =
        (0..machines).flat_map(|machine| (0..hours).map(move |hour| (machine, hour))).collect();
    shuffled(&mut rows, u64::from(month.month()));
    for (number, hour) in rows {
        let at = midnight(month) + chrono::TimeDelta::hours(hour as i64);
        let cost = format!("{}.{:04}", 20 + number % 7, mixed(number) % 10_000);
        let (from, until) = (at.format("%FT%TZ"), (at + chrono::TimeDelta::hours(1)).format("%FT%TZ"));
        writeln!(
            out,
            "NeoCloud,acme,s{},{month}T00:00:00Z,{after}T00:00:00Z,{from},{until},Usage,Standard,GPU Cloud,Compute,gpu-8x,eu-{},{},\
             \"{{\"\"InstanceType\"\":\"\"8xH100\"\",\"\"GpuCount\"\":8}}\",1,Hours,{cost},{cost},{cost},{cost},USD,\
             \"{{\"\"team\"\":\"\"team-{:02}\"\"}}\",NeoCloud,NeoCloud",
            number % 5,
            number % 3,
            machine(number),
            number % 20,
        )
        .unwrap();
    }
    out.flush().unwrap();
}

/// Machines of Kubernetes, with the pods that hold their GPUs now.
pub struct Cluster {
    machines: u64,
    /// By machine: which GPUs, and until which minute since the first day the pod that has this number holds them.
    groups: Vec<Vec<(std::ops::Range<u64>, u64, u64)>>,
    pods: u64,
    minute: u64,
}

/// Of a GPU and who held it: from and until which minute of the day.
struct Series {
    machine: u64,
    gpu: u64,
    /// 0: nobody.
    pod: u64,
    minutes: std::ops::Range<u64>,
}

impl Cluster {
    pub fn new(machines: u64) -> Self {
        Self { machines, groups: vec![Vec::new(); machines as usize], pods: 0, minute: 0 }
    }

    /// The pods that there were.
    pub fn pods(&self) -> u64 {
        self.pods
    }

    /// Writes what a Prometheus answers for the next day, a sample a minute of each GPU, and returns how many.
    pub fn write_day(&mut self, path: &Path, day: NaiveDate) -> u64 {
        let mut series = Vec::new();
        for machine in 0..self.machines {
            self.of_machine(machine, &mut series);
        }
        self.minute += MINUTES;
        shuffled(&mut series, self.minute);
        let mut out = BufWriter::new(File::create(path).unwrap());
        write!(out, r#"{{"status":"success","data":{{"resultType":"matrix","result":["#).unwrap();
        let mut samples = 0;
        let first = midnight(day).timestamp().unsigned_abs();
        let mut values = String::new();
        for (place, it) in series.iter().enumerate() {
            values.clear();
            // How busy a pod is has a level of its own; what nobody holds is not.
            let level = if it.pod == 0 { 0 } else { 20 + mixed(it.pod) % 75 };
            for minute in it.minutes.clone() {
                let value = if level == 0 { 0 } else { level + mixed(it.gpu + minute) % 6 };
                let comma = if minute == it.minutes.start { "" } else { "," };
                write!(values, "{comma}[{},\"{value}\"]", first + minute * 60).unwrap();
            }
            samples += it.minutes.end - it.minutes.start;
            let comma = if place == 0 { "" } else { "," };
            let pod = if it.pod == 0 {
                String::new()
            } else {
                format!(
                    r#","namespace":"ns-{:02}","pod":"run-{}","container":"main""#,
                    it.pod % NAMESPACES,
                    it.pod
                )
            };
            write!(
                out,
                r#"{comma}{{"metric":{{"__name__":"DCGM_FI_DEV_GPU_UTIL","Hostname":"{}","UUID":"GPU-{:016x}","gpu":"{}","modelName":"NVIDIA H100 80GB HBM3"{pod}}},"values":[{values}]}}"#,
                machine(it.machine),
                mixed(it.machine * GPUS + it.gpu),
                it.gpu,
            )
            .unwrap();
        }
        write!(out, "]}}}}").unwrap();
        out.flush().unwrap();
        samples
    }

    fn of_machine(&mut self, machine: u64, series: &mut Vec<Series>) {
        let groups = &mut self.groups[machine as usize];
        if groups.is_empty() || self.minute.is_multiple_of(7 * MINUTES) {
            groups.clear();
            let layout = LAYOUTS[(mixed(machine ^ (self.minute << 20)) % LAYOUTS.len() as u64) as usize];
            let mut first = 0;
            for gpus in layout {
                groups.push((first..first + gpus, 0, self.minute));
                first += gpus;
            }
        }
        let end = self.minute + MINUTES;
        for (gpus, pod, until) in groups {
            let mut at = self.minute;
            while at < end {
                if *until <= at {
                    // A seventh of the time nobody waits for it. Pods are of minutes as well as of days.
                    self.pods += 1;
                    let chance = mixed(self.pods);
                    *pod = if chance.is_multiple_of(7) { 0 } else { self.pods };
                    *until = at + if *pod == 0 { 120 } else { 30 + (chance >> 8) % (36 * 60) };
                }
                let upto = (*until).min(end);
                for gpu in gpus.clone() {
                    series.push(Series {
                        machine,
                        gpu,
                        pod: *pod,
                        minutes: at - self.minute..upto - self.minute,
                    });
                }
                at = upto;
            }
        }
    }
}

/// Writes what `sacct` says of a year of jobs on some machines, a GPU or more each. Returns how many jobs.
pub fn write_jobs(path: &Path, machines: std::ops::Range<u64>, first: NaiveDate, days: u64) -> u64 {
    let mut rows = Vec::new();
    let end = days * 24 * 3600;
    for number in machines {
        for first_gpu in 0..GPUS {
            let mut at = mixed(number * GPUS + first_gpu) % 3600;
            while at < end {
                let chance = mixed(number ^ (first_gpu << 32) ^ (at << 8));
                let seconds = 600 + chance % (60 * 3600);
                rows.push((number, at, at + seconds));
                at += seconds + (chance >> 32) % 7200;
            }
        }
    }
    shuffled(&mut rows, 7);
    let mut out = BufWriter::new(File::create(path).unwrap());
    writeln!(
        out,
        "JobID|JobIDRaw|User|Account|Partition|QOS|State|Submit|Start|End|ElapsedRaw|AllocTRES|NodeList|JobName"
    )
    .unwrap();
    for (job, (number, from, until)) in (1_u64..).zip(&rows) {
        let time = |seconds: u64| {
            (midnight(first) + chrono::TimeDelta::seconds(seconds as i64)).format("%FT%T").to_string()
        };
        let who = mixed(job) % 300;
        writeln!(
            out,
            "{job}|{job}|user{who:03}|acct-{:02}|gpu|normal|COMPLETED|{}|{}|{}|{}|billing=8,cpu=8,gres/gpu=1,mem=64G,node=1|{}|train-{}",
            who % 40,
            time(*from),
            time(*from),
            time(*until),
            until - from,
            machine(*number),
            mixed(job + 1) % 500,
        )
        .unwrap();
    }
    out.flush().unwrap();
    rows.len() as u64
}

fn midnight(day: NaiveDate) -> DateTime<Utc> {
    day.and_time(chrono::NaiveTime::MIN).and_utc()
}
