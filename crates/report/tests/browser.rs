//! Tests a rendered report in a real browser: charts, hover, legend, choices, the first screen, a phone, dark
//! mode, and that it works without network and without scripts.
//!
//! Needs Chromium and its driver (Debian: `apt-get install chromium chromium-driver`; elsewhere `CHROMIUM`
//! and `CHROMEDRIVER` name the programs). Without them the test fails, unless `WARMCORE_SKIP_BROWSER=1` is
//! set.

#[path = "../examples/sample/document.rs"]
mod document;

#[path = "browser/driver.rs"]
mod driver;

use driver::{Settings, TestResult, console, in_browser};
use fantoccini::{Client, Locator};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use warmcore_record::document::Statement;

/// The report on the sample document, as a file that lives as long as the returned directory.
fn report() -> (tempfile::TempDir, String) {
    let document = document::sample();
    document.validate().expect("the sample is sound");
    written(&document)
}

/// The report on `document`, in the same form.
fn written(document: &warmcore_record::Document) -> (tempfile::TempDir, String) {
    let directory = tempfile::tempdir().expect("a temporary directory can be made");
    let path = directory.path().join("report.html");
    std::fs::write(&path, warmcore_report::render(document)).expect("the report can be written");
    let address = format!("file://{}", path.display());
    (directory, address)
}

/// The value of a script's expression.
async fn value(browser: &Client, expression: &str) -> Value {
    browser.execute(&format!("return {expression}"), vec![]).await.expect("the script runs")
}

/// Waits until the expression is true. Fails after 90 seconds, which no machine needs.
async fn until(browser: &Client, expression: &str) {
    let begun = Instant::now();
    while value(browser, expression).await != json!(true) {
        assert!(begun.elapsed() < Duration::from_secs(90), "still not true: {expression}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Opens the report and waits until its charts are drawn.
async fn open(browser: &Client, address: &str) -> TestResult {
    browser.goto(address).await?;
    until(browser, "document.documentElement.getAttribute('data-charts') === 'ready'").await;
    Ok(())
}

/// The number of lines drawn in the chart `id`.
fn drawn(id: &str) -> String {
    format!("document.querySelectorAll('#{id} .plot .scatterlayer .trace').length")
}

async fn click(browser: &Client, css: &str) -> TestResult {
    // A click scrolls the element into view by itself; done first, nothing moves below the pointer.
    let scroll = format!(
        "document.querySelector({}).scrollIntoView({{block: 'center', behavior: 'instant'}})",
        json!(css)
    );
    value(browser, &scroll).await;
    browser.find(Locator::Css(css)).await?.click().await?;
    Ok(())
}

#[test]
fn every_chart_is_drawn_and_nothing_leaves_the_file() {
    let (_directory, address) = report();
    in_browser(Settings::default(), async |browser| {
        open(browser, &address).await?;
        let document = document::sample();
        for chart in document.charts() {
            let shown = chart.view(&chart.initial_picks()).expect("the first view is there");
            let shown = shown.series.iter().filter(|series| !series.hidden).count();
            let plot = format!("document.querySelector('#{} .plot')", chart.id);
            assert_eq!(
                value(browser, &format!("{plot}.querySelectorAll('.main-svg').length > 0")).await,
                json!(true)
            );
            let traces =
                format!("{plot}.data.filter(t => t.visible === true && t.hoverinfo !== 'skip').length");
            assert_eq!(value(browser, &traces).await, json!(shown), "traces of {}", chart.id);
            let marks = format!("{plot}.querySelectorAll('.trace path, .points path').length");
            assert!(value(browser, &marks).await.as_u64() >= Some(3), "{} is drawn", chart.id);
        }
        let requests = "performance.getEntriesByType('resource').map(entry => entry.name)";
        assert_eq!(value(browser, requests).await, json!([]), "the report asked for something");
        assert_eq!(console(browser).await, Vec::<String>::new(), "the console is silent");
        Ok(())
    });
}

#[test]
fn hovering_shows_the_value_with_its_half_width() {
    let (_directory, address) = report();
    in_browser(Settings::default(), async |browser| {
        open(browser, &address).await?;
        value(
            browser,
            "document.querySelector('#reload-time').scrollIntoView({block: 'center', behavior: 'instant'})",
        )
        .await;
        let middle = "(() => { const box = document.querySelectorAll('#reload-time .points path')[4]\
                      .getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2] })()";
        let label = "#reload-time .hoverlayer .hovertext";
        let begun = Instant::now();
        // Keep moving the mouse: it hovers eventually, even while the layout is still changing.
        while value(browser, &format!("document.querySelectorAll('{label}').length > 0")).await != json!(true)
        {
            assert!(begun.elapsed() < Duration::from_secs(90), "no label appears");
            let place = value(browser, middle).await;
            driver::move_mouse(browser, &place).await?;
        }
        let text = value(browser, &format!("document.querySelector('{label}').textContent")).await;
        let text = text.as_str().unwrap_or_default();
        let expected = document::sample();
        let point = expected
            .charts()
            .find(|chart| chart.id == "reload-time")
            .map(|chart| chart.views[0].series[0].points[4].y);
        let micros = point.expect("the sample has that point").mean * 1e6;
        assert!(text.contains("measured"), "{text}");
        assert!(text.contains(&format!("{micros:.1}")[..3]), "{text} has {micros}");
        assert!(text.contains(" ± ") && text.contains("µs"), "{text}");
        Ok(())
    });
}

#[test]
fn legend_and_selectors_change_the_chart() {
    let (_directory, address) = report();
    in_browser(Settings::default(), async |browser| {
        open(browser, &address).await?;
        assert_eq!(value(browser, &drawn("delay-rate")).await, json!(6));

        click(browser, "#delay-rate [data-entry='0']").await?;
        until(browser, &format!("{} === 5", drawn("delay-rate"))).await;
        assert_eq!(
            value(
                browser,
                "document.querySelector('#delay-rate [data-entry=\"0\"]').getAttribute('aria-pressed')"
            )
            .await,
            json!("false")
        );

        click(browser, "#delay-rate .legend-group:nth-child(2) .group-switch").await?;
        until(browser, &format!("{} === 11", drawn("delay-rate"))).await;

        let first = "document.querySelector('#delay-rate .plot').data[1].x[0]";
        let before = value(browser, first).await;
        click(browser, "#delay-rate .choices label:nth-of-type(3)").await?;
        until(browser, &format!("{first} !== {before}")).await;
        assert_eq!(value(browser, &drawn("delay-rate")).await, json!(11), "the legend keeps its state");
        let tables = "[...document.querySelectorAll('#delay-rate .behind-view')].map(view => view.hidden)";
        assert_eq!(value(browser, tables).await, json!([true, true, false]), "the numbers follow the choice");
        assert_eq!(console(browser).await, Vec::<String>::new(), "the console is silent");
        Ok(())
    });
}

#[test]
fn a_reader_who_zooms_in_still_has_ticks() {
    let (_directory, address) = report();
    in_browser(Settings::default(), async |browser| {
        open(browser, &address).await?;
        let plot = "document.querySelector('#delay-rate .plot')";
        let ticks = "[...document.querySelectorAll('#delay-rate .xaxislayer-above .xtick')]\
                     .map(tick => tick.textContent).filter(text => text !== '')";
        let whole = value(browser, ticks).await;
        assert_eq!(whole, json!(["1 k/s", "10 k/s", "100 k/s", "1 M/s"]));
        value(browser, &format!("void Plotly.relayout({plot}, {{'xaxis.range': [4.2, 4.8]}})")).await;
        until(browser, &format!("{plot}.layout.xaxis.tickmode === 'auto'")).await;
        until(browser, &format!("{ticks}.length >= 2")).await;
        let reset = "#delay-rate .modebar-btn[data-attr='reset'], #delay-rate .modebar-btn[data-val='reset']";
        value(browser, &format!("document.querySelector(\"{reset}\").click()")).await;
        until(browser, &format!("JSON.stringify({ticks}) === {}", json!(whole.to_string()))).await;
        assert_eq!(console(browser).await, Vec::<String>::new(), "the console is silent");
        Ok(())
    });
}

#[test]
fn hostile_text_is_shown_as_text() {
    let hostile = r#"</script></style><img src=x onerror="document.title='taken'"> & <b>$x$ %{y}"#;
    let mut document = document::sample();
    document.verdict.headline = hostile.into();
    document.manifest.scenario = Some(hostile.into());
    for section in &mut document.sections {
        section.heading = hostile.into();
        for block in &mut section.blocks {
            if let warmcore_record::Block::Chart(chart) = block {
                chart.title = hostile.into();
                chart.x.label = hostile.into();
                for series in chart.views.iter_mut().flat_map(|view| &mut view.series) {
                    series.points[0].note = Some(hostile.into());
                }
            }
        }
    }
    let (_directory, address) = written(&document);
    in_browser(Settings::default(), async |browser| {
        open(browser, &address).await?;
        assert_eq!(value(browser, "document.querySelectorAll('img').length").await, json!(0));
        assert_eq!(browser.find(Locator::Css(".headline")).await?.text().await?, hostile);
        let title = "document.querySelector('#reload-time .xtitle').textContent.replace('\\u2060', '')";
        assert_eq!(value(browser, title).await, json!(hostile));
        assert_eq!(browser.title().await?, document.title);
        assert_eq!(console(browser).await, Vec::<String>::new(), "the console is silent");
        Ok(())
    });
}

#[test]
fn a_phone_scrolls_down_only() {
    let (_directory, address) = report();
    in_browser(Settings { screen: Some([360, 740]), ..Settings::default() }, async |browser| {
        open(browser, &address).await?;
        assert_eq!(value(browser, "window.innerWidth").await, json!(360), "the phone is as narrow as asked");
        assert_eq!(value(browser, "document.documentElement.scrollWidth").await, json!(360));
        until(
            browser,
            "[...document.querySelectorAll('.plot')].every(plot => \
             plot.querySelector('.main-svg').getBoundingClientRect().right <= 360)",
        )
        .await;
        let boxes = "[...document.querySelectorAll('.tabular .scroll')].some(box => box.scrollWidth > box.clientWidth)";
        assert_eq!(value(browser, boxes).await, json!(true), "a wide table scrolls in its own box");
        Ok(())
    });
}

/// The longest verdict that a study produces.
const LONG_HEADLINE: &str = "On 2 processors, use independent stacks on the most recently used processor (MRU) at low \
                             loads, and independent stacks with each stream wired to a processor (Wired-Streams) at \
                             high loads: at half of what the common default carries (2.88 M/s), a packet takes 54% ± \
                             1.1% less time, and the machine carries 2.19 ± 0.04 times the \
                             traffic.";

const LONG_SCOPE: &str = "This speaks for a user-space UDP receive path in memory, not for Linux's own network stack, \
                          for 2 cores of the machine it was measured on (AMD EPYC), and for as many equally busy \
                          streams as cores; with 64 streams independent stacks, Wired-Streams take up to 19% ± 1.8% \
                          less time from 27.1 k/s to 58.4 k/s. A cache line takes 247 ns (241 ns to 260 ns) from one \
                          core to the other: nearer or farther, as a hypervisor may place them, rates and gains \
                          differ.";

const LONG_CLAIM: &str = "At low loads, up to about 89.0 k/s (40.7 k/s to 153 k/s with costs of another study), use \
                          independent stacks, Wired-Streams: a packet takes at least 43% ± 1.3% less time than \
                          under the common default.";

const LONG_LEGEND: [(&str, &str); 4] = [
    ("Recommended", "independent stacks, MRU"),
    ("Recommended", "independent stacks, Wired-Streams"),
    ("The common default", "one stack with locks, Wired-Streams"),
    ("Others", "independent stacks, LRU"),
];

#[test]
fn the_first_screen_has_the_verdict_and_nothing_is_cut_off() {
    let mut document = document::sample();
    document.verdict.headline = LONG_HEADLINE.into();
    document.verdict.scope = LONG_SCOPE.into();
    let claim = Statement { text: LONG_CLAIM.into(), ..document.verdict.statements[0].clone() };
    document.verdict.statements = vec![claim; 3];
    for view in &mut document.verdict.chart.as_mut().expect("the sample has one").views {
        view.series.truncate(LONG_LEGEND.len());
        for (series, (group, name)) in view.series.iter_mut().zip(LONG_LEGEND) {
            (series.group, series.name) = (Some(group.into()), name.into());
        }
    }
    let (_directory, address) = written(&document);
    // A phone's first screen ends with the chart, a desktop's with the lines below it.
    let phone = ".sureness, .headline, .verdict .plot";
    let desktop = ".sureness, .headline, .scope, .verdict .plot, .verdict > .statements > li:last-child";
    for ([width, height], parts) in [([400, 800], phone), ([1400, 900], desktop)] {
        in_browser(Settings { screen: Some([width, height]), ..Settings::default() }, async |browser| {
            open(browser, &address).await?;
            let wide = value(browser, "document.documentElement.scrollWidth <= window.innerWidth").await;
            assert_eq!(wide, json!(true), "nobody scrolls sideways at {width}");
            let bottoms = format!(
                "[...document.querySelectorAll('{parts}')].map(part => part.getBoundingClientRect().bottom)"
            );
            let bottoms: Vec<f64> = serde_json::from_value(value(browser, &bottoms).await)?;
            let is_all = bottoms.len() == parts.split(", ").count();
            let in_order = is_all && bottoms.is_sorted() && bottoms.iter().all(|&at| at <= f64::from(height));
            assert!(in_order, "{bottoms:?} on a screen of {width} by {height}");
            let cut_off = "[...document.querySelectorAll('.plot')].flatMap(plot => { \
                           const box = plot.getBoundingClientRect(); \
                           return [...plot.querySelectorAll('svg text')].filter(text => { \
                             const at = text.getBoundingClientRect(); \
                             return at.width > 0 && (at.left < box.left - 1 || at.right > box.right + 1 || \
                                                     at.top < box.top - 1 || at.bottom > box.bottom + 1); \
                           }).map(text => text.textContent) })";
            assert_eq!(value(browser, cut_off).await, json!([]), "texts cut off at {width}");
            Ok(())
        });
    }
}

#[test]
fn ticks_are_numbers_that_can_be_said_aloud() {
    let (_directory, address) = report();
    in_browser(Settings::default(), async |browser| {
        open(browser, &address).await?;
        let ticks = "[...document.querySelectorAll('.plot .xtick text, .plot .ytick text')]\
                     .map(tick => tick.textContent.replaceAll('\\u202f', ''))";
        let ticks: Vec<String> = serde_json::from_value(value(browser, ticks).await)?;
        assert!(ticks.len() > 20, "{ticks:?}");
        let is_category = |tick: &str| tick.contains("MRU") || tick.contains("LRU") || tick.contains("Wired");
        for tick in ticks.iter().filter(|tick| !is_category(tick)) {
            let (number, unit) = tick.split_once(' ').unwrap_or((tick, ""));
            let of_a_size = number.parse::<f64>().is_ok_and(|number| number < 10_000.0) && number.len() <= 5;
            let units = ["", "s", "ms", "µs", "ns", "/s", "k/s", "M/s", "G/s"];
            assert!(of_a_size && units.contains(&unit), "{tick}");
        }
        Ok(())
    });
}

#[test]
fn advised_curves_are_bold_and_hollow_markers_are_explained() {
    let (_directory, address) = report();
    in_browser(Settings::default(), async |browser| {
        open(browser, &address).await?;
        let bold = "(() => { const shown = document.querySelector('#delay-rate .plot').data\
                    .filter(trace => trace.visible && trace.line); \
                    const widest = Math.max(...shown.map(trace => trace.line.width)); \
                    return shown.filter(trace => trace.line.width === widest).map(trace => trace.name) })()";
        assert_eq!(value(browser, bold).await, json!(["IPS, Wired-Streams"]));
        click(browser, "#delay-rate summary").await?;
        let explained = browser.find(Locator::Css("#delay-rate .hollow")).await?;
        assert!(explained.is_displayed().await?);
        assert_eq!(
            value(browser, "document.querySelectorAll('#reload-time .hollow').length").await,
            json!(0)
        );
        Ok(())
    });
}

/// The contrast of every shown text with what is behind it (WCAG 2, relative luminance), of the
/// lowest first: `[contrast, text]`.
const CONTRASTS: &str = "(() => { \
    const channels = colour => colour.match(/[\\d.]+/g).map(Number); \
    const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255) \
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4) \
      .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0); \
    const behind = element => { for (let at = element; at; at = at.parentElement) { \
      const colour = channels(getComputedStyle(at).backgroundColor); \
      if (colour.length < 4 || colour[3] > 0.5) return colour; } return [255, 255, 255]; }; \
    const own = element => [...element.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()); \
    return [...document.querySelectorAll('body *')] \
      .filter(e => own(e) && e.getClientRects().length > 0 && !e.closest('script, :disabled')) \
      .map(e => { const style = getComputedStyle(e); const svg = e.closest('svg'); \
        const [one, other] = [channels(svg ? style.fill : style.color), behind(e)].map(luminance); \
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05); \
        return [contrast, e.textContent.trim().slice(0, 40)]; }) \
      .sort((a, b) => a[0] - b[0]) })()";

#[test]
fn by_day_and_by_night_every_text_stands_out_from_its_paper() {
    let (_directory, address) = report();
    let mut papers = Vec::new();
    for dark in [false, true] {
        in_browser(Settings { dark, ..Settings::default() }, async |browser| {
            open(browser, &address).await?;
            let contrasts: Vec<(f64, String)> = serde_json::from_value(value(browser, CONTRASTS).await)?;
            assert!(contrasts.len() > 200, "{}", contrasts.len());
            assert!(contrasts[0].0 >= 4.5, "dark: {dark}, {:?}", &contrasts[..5]);
            let paper = "['body', '.verdict .plot .main-svg'].map(css => \
                         getComputedStyle(document.querySelector(css)).backgroundColor)";
            let paper: [String; 2] = serde_json::from_value(value(browser, paper).await)?;
            assert_eq!(paper[0], paper[1], "the chart is on the page's paper");
            papers.push(paper);
            Ok(())
        });
    }
    assert!(std::env::var_os("WARMCORE_SKIP_BROWSER").is_some() || papers[0] != papers[1], "{papers:?}");
}

#[test]
fn a_folded_section_opens() {
    let (_directory, address) = report();
    in_browser(Settings::default(), async |browser| {
        open(browser, &address).await?;
        let claim = browser.find(Locator::Css("#other-processor-counts .claim")).await?;
        assert!(!claim.is_displayed().await?);
        click(browser, "#other-processor-counts summary").await?;
        assert!(claim.is_displayed().await?);
        let evidence = browser.find(Locator::Css("#other-processor-counts .evidence li")).await?;
        assert!(!evidence.is_displayed().await?);
        click(browser, "#other-processor-counts .evidence summary").await?;
        assert!(evidence.is_displayed().await?);
        Ok(())
    });
}

#[test]
fn without_script_the_verdict_and_every_number_are_there() {
    let (_directory, address) = report();
    in_browser(Settings { without_script: true, ..Settings::default() }, async |browser| {
        browser.goto(&address).await?;
        let document = document::sample();
        let headline = browser.find(Locator::Css(".headline")).await?;
        assert!(headline.is_displayed().await?);
        assert_eq!(headline.text().await?, document.verdict.headline);
        let table = browser.find(Locator::Css("#costs-1994")).await?.text().await?;
        for published in ["66.6", "57.4", "173.1", "143.9"] {
            assert!(table.contains(published), "{published} is in {table}");
        }
        let notice = browser.find(Locator::Css("#delay-rate noscript")).await?;
        assert!(notice.text().await?.contains("need JavaScript"));
        assert!(!browser.find(Locator::Css("#delay-rate .plot")).await?.is_displayed().await?);
        click(browser, "#delay-rate summary").await?;
        assert!(browser.find(Locator::Css("#delay-rate .behind-view")).await?.is_displayed().await?);
        Ok(())
    });
}
