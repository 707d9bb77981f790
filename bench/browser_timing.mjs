// What benchmarks in a browser measure with.

export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

// Gaps between frames while something moves.
export async function frameGaps(page, act) {
  await page.evaluate(() => {
    window.gaps = [];
    let last = performance.now();
    const step = (now) => {
      window.gaps?.push(now - last);
      last = now;
      if (window.gaps) requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  await act();
  return page.evaluate(() => {
    const { gaps } = window;
    window.gaps = null;
    return gaps.slice(1);
  });
}

// From each event of that type to the frame that shows its effect.
export async function latencies(page, type, act) {
  await page.evaluate((name) => {
    window.latencies = [];
    window.record = (event) => {
      const begin = event.timeStamp;
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel(); // runs after the frame is painted
        port1.onmessage = () => window.latencies.push(performance.now() - begin);
        port2.postMessage(0);
      });
    };
    document.addEventListener(name, window.record, true);
  }, type);
  await act();
  await page.waitForTimeout(100);
  return page.evaluate((name) => {
    document.removeEventListener(name, window.record, true);
    return window.latencies;
  }, type);
}
