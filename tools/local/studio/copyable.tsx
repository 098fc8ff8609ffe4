import { useState } from 'preact/hooks';

const copiedMs = 2000;

/** A text with a button that copies it. */
export function Copyable({ text, label = 'The text' }: { text: string; label?: string }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    setSaid(
      await navigator.clipboard.writeText(text).then(
        () => 'Copied',
        () => 'Not copied',
      ),
    );
    setTimeout(() => setSaid(''), copiedMs);
  };
  return (
    <div class="copyable">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable. */}
      <pre tabIndex={0}>{text}</pre>
      <button type="button" onClick={copy} aria-label={`Copy: ${label}`}>
        {said || 'Copy'}
      </button>
    </div>
  );
}
