// A student in Firefox: opens the notebook, runs all of it, and again with a function written. Prints what was shown.
// node firefox.mjs FIREFOX ADDRESS FUNCTION-SOURCE
import puppeteer from "puppeteer-core";

const [executablePath, address, source] = process.argv.slice(2);
const browser = await puppeteer.launch({ browser: "firefox", executablePath, headless: true, args: ["-width", "1280", "-height", "900"] });
const page = await browser.newPage();
const patience = { timeout: 240_000 };

async function runAll() {
  await page.evaluate(() => window.jupyterapp.commands.execute("notebook:run-all-cells"));
  await page.waitForFunction(() => {
    const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
    const code = cells.filter((cell) => cell.type === "code" && cell.sharedModel.getSource().trim());
    return code.every((cell) => cell.executionCount) && code.every((cell) => cell.executionState !== "running");
  }, patience);
  return page.evaluate(() => [...window.jupyterapp.shell.currentWidget.content.model.cells]
    .filter((cell) => cell.type === "code")
    .map((cell) => [cell.sharedModel.getSource(), cell.sharedModel.getOutputs()]));
}

try {
  await page.goto(address);
  await page.waitForFunction(() => {
    const context = window.jupyterapp?.shell.currentWidget?.sessionContext;
    const kernel = context?.isReady && context.session?.kernel;
    return kernel?.connectionStatus === "connected" && kernel.status === "idle";
  }, patience);
  const untouched = await runAll();
  const name = source.match(/def (\w+)/)[1];
  await page.evaluate((name, source) => {
    const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
    cells.find((cell) => cell.sharedModel.getSource().startsWith(`def ${name}(`)).sharedModel.setSource(source);
  }, name, source);
  const answered = await runAll();
  const title = await page.$eval(".jp-Notebook h1", (heading) => heading.textContent);
  const cards = await page.$$eval(".jp-OutputArea-output", (outputs) => outputs.map((output) => output.textContent).join("\n"));
  console.log(JSON.stringify({ title, untouched, answered, cards }));
} finally {
  await browser.close();
}
