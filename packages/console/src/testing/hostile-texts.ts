const MARK = 'alert(document.domain)';

/** Texts of strangers that would run, change the direction of what follows, or make a page large. */
export const HOSTILE = [
  `<script>${MARK}</script>`,
  `"><img src=x onerror=${MARK}>`,
  `' onmouseover='${MARK}`,
  `\u202e${MARK}\u2066`,
  `javascript:${MARK}`,
  'x'.repeat(1_000_000),
];
