//! Stories in a real browser: Debian's chromium before the program as it runs. Each test has a database, a server
//! and a browser of its own.

mod cdp;
mod page;
mod site;

mod bills;
mod clusters;
mod every_page;
mod first_visit;
mod mappings;
mod organization;
mod scenarios;
mod team_lead;
mod uploads;
mod without_javascript;

use page::Page;
use site::Site;
