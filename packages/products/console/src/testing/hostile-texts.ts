const MARK = 'alert(document.domain)';

/** Untrusted texts that would execute, change the direction of later text, or make a page large. */
export const HOSTILE = [
  `<script>${MARK}</script>`,
  `"><img src=x onerror=${MARK}>`,
  `' onmouseover='${MARK}`,
  `\u202e${MARK}\u2066`,
  `javascript:${MARK}`,
  'x'.repeat(1_000_000),
];
