// Runs in a page and returns the problems there. The bounds are those of WCAG 2.2, level AA.
(() => {
  const minContrast = 4.5;
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });

  /** A color of CSS as red, green, blue and opacity, each up to 255. */
  function channels(color) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  }

  function luminance(color) {
    const [red, green, blue] = color.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function behind(element) {
    const color = channels(getComputedStyle(element ?? document.body).backgroundColor);
    return color[3] === 255 || !element ? color : behind(element.parentElement);
  }

  function contrast(element) {
    const both = [channels(getComputedStyle(element).color), behind(element)].map(luminance);
    return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
  }

  const shown = [...document.querySelectorAll('body *')].filter((element) => element.checkVisibility());
  const texts = shown.filter(({ childNodes }) =>
    [...childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim() !== ''),
  );
  const faint = texts
    .filter((element) => !element.matches(':disabled') && contrast(element) < minContrast)
    .map((element) => `contrast ${contrast(element).toFixed(1)}: ${element.textContent}`);

  const unnamed = shown
    .filter((element) => element.matches('button, a, summary, input, select, section, [role=region]'))
    .filter((element) => {
      const label = element.getAttribute('aria-labelledby');
      const named = label ? document.getElementById(label)?.textContent : element.ariaLabel;
      const own = element.matches('button, a, summary') ? element.textContent : '';
      return !(named || own || element.labels?.length);
    })
    .map(({ outerHTML }) => `no name: ${outerHTML}`);

  const levels = shown
    .filter(({ tagName }) => /^H\d$/.test(tagName))
    .map(({ tagName }) => Number(tagName[1]));
  const skipped = levels
    .filter((level, place) => level > (levels[place - 1] ?? 0) + 1)
    .map((level) => `a heading of level ${level} skips one`);
  return [...faint, ...unnamed, ...skipped];
})();
