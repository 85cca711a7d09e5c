/** Checks sentences for phrases and lengths that the style of this repository avoids. */

/** A passage to rewrite. */
export interface ProseFinding {
  /** Counted from 1. */
  readonly line: number;
  readonly kind: 'phrase' | 'length';
  readonly found: string;
  /** Completes "write …". */
  readonly advice: string;
}

interface Phrase {
  readonly pattern: RegExp;
  readonly advice: string;
}

/** Phrases with hardly any legitimate use in technical prose. */
const PHRASES: readonly Phrase[] = [
  {
    pattern:
      /(?<![\w'’])what (?:is (?:kept|served|indexed|stored|proven|known|derived|shown|configured|due|missing|left|read|asked|there)|was (?:read|asked|sold|known|counted|paid)|it (?:gives|shows|takes|costs|says)|they (?:say|hold|sent|call|cost)|a \w+ (?:sold|did|holds?|says|sends?|takes|costs)|moved|nodes (?:say|answer|give)|clients (?:say|report)|contracts (?:say|said|emit)|streams (?:delivered|match|see)|wallets (?:did|hold)|headers? (?:commit|says)|comes (?:in|later|above)|differs|arrived)/gi,
    advice: 'a noun, such as "trades", "retention" or "the cost"',
  },
  {
    pattern: /\b(?:whoever|somebody|nobody|everybody|anybody|strangers?'?)\b/gi,
    advice: 'the actor: client, process, operator; or "untrusted"',
  },
  { pattern: /\b(?:tells?|told|telling)\b/gi, advice: 'report, return, show, log or indicate' },
  {
    pattern: /\basked (?:for|about|of|anew)\b|\basks? (?:for it|anew)\b/gi,
    advice: 'request, query or look up',
  },
  { pattern: /(?:^|[.;:|] +)Of (?!course)[a-z0-9`*]/g, advice: 'the subject first' },
  {
    pattern:
      /\b(?:anew|besides?|hence|likewise|dear(?:er|est)?|mend(?:s|ed)?|in vain|none the less|all the same|as it stands|but for|to be had|thereby|wherever|for good|for ever)\b/gi,
    advice: 'a plain word: again, also, so, expensive, fix, except',
  },
  {
    pattern: /\bby (?:itself|themselves)\b|\bof (?:its|their) own\b/gi,
    advice: 'automatically, separate or own',
  },
  { pattern: /\b(?:go(?:es)?|went|going) on\b/gi, advice: 'continue or resume' },
  {
    pattern:
      /\bis (?:it )?well\b|\bgood for (?:it|what|a look|for)\b|\bsee(?:s)? to\b|\blook(?:s|ed)? (?:whether|who)\b|\blet(?:s)? go of\b/gi,
    advice: 'healthy, suitable, check or release',
  },
  {
    pattern: /\banswers?\b(?= (?:of|by|to|say|are|is|that|which|over|from|without|in|with)\b)/gi,
    advice: 'response or result',
  },
  {
    pattern: /own coin|chain's coin|\bcoins? of (?:the|a) chain|wrapped coin/gi,
    advice: 'native token or wrapped native token',
  },
  { pattern: /\blog of Postgres\b|\bbytes of log\b|\bto (?:its|the) log\b/gi, advice: 'WAL, or application log' },
  { pattern: /\bsome \d[\d,.]*/gi, advice: 'about' },
  {
    pattern: /\b(?:is|are|was|were) there (?:already|yet|meanwhile|is)\b|\bthat there (?:is|are)\b/gi,
    advice: 'exists or available',
  },
];

/** In words. */
const LIMITS = { paragraph: 80, sentence: 32, cell: 25 };

const WORD = /[\p{L}\p{N}][\p{L}\p{N}_'’./-]*/gu;
const FENCE = /^\s*```/;
const TABLE_ROW = /^\s*\|/;
const LIST_ITEM = /^\s*(?:[-*]|\d+\.)\s/;
const HEADING = /^#/;
/** A tag of a doc comment that starts a text, such as `@returns`. */
const TAG = /^\s*@\w+/;

/** Findings of a text in Markdown, in the order of its lines. Code blocks and inline code are skipped. */
export function findProse(markdown: string): ProseFinding[] {
  return readBlocks(markdown).flatMap(checkBlock);
}

interface Block {
  readonly line: number;
  readonly lines: readonly string[];
  readonly kind: 'paragraph' | 'cell';
}

/** Paragraphs, headings, list items and table cells. */
function readBlocks(markdown: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let isCode = false;
  const close = (end: number) => {
    if (lines.length > 0) blocks.push({ line: end - lines.length, lines, kind: 'paragraph' });
    lines = [];
  };
  for (const [index, raw] of markdown.split('\n').entries()) {
    const line = index + 1;
    if (FENCE.test(raw)) isCode = !isCode;
    const text = FENCE.test(raw) || isCode || /^ {4}\S/.test(raw) ? '' : withoutCode(raw);
    const isRow = TABLE_ROW.test(text);
    if (text.trim() === '' || isRow || HEADING.test(text) || LIST_ITEM.test(text) || TAG.test(text)) close(line);
    if (isRow) blocks.push(...cellsOf(text).map((cell) => ({ line, lines: [cell], kind: 'cell' as const })));
    else if (text.trim() !== '') lines.push(text.trim());
    if (HEADING.test(text)) close(line + 1);
  }
  close(markdown.split('\n').length + 1);
  return blocks;
}

function cellsOf(row: string): string[] {
  return row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
    .filter((cell) => /\w/.test(cell));
}

function withoutCode(text: string): string {
  return text.replaceAll(/`[^`]*`/g, '`x`').replaceAll(/\]\([^)]*\)/g, ']');
}

function countWords(text: string): number {
  return text.match(WORD)?.length ?? 0;
}

function checkBlock({ line, lines, kind }: Block): ProseFinding[] {
  const text = lines.join(' ');
  const findings: ProseFinding[] = [];
  const checkLength = (position: number, name: keyof typeof LIMITS, passage: string) => {
    const words = countWords(passage);
    if (words <= LIMITS[name]) return;
    const found = `${name} of ${words} words`;
    const advice = `at most ${LIMITS[name]} words`;
    findings.push({ line: line + lineOf(lines, position), kind: 'length', found, advice });
  };
  checkLength(0, kind, text);
  if (kind === 'paragraph')
    for (const sentence of text.split(/(?<=[.!?])\s+(?=[A-Z*`])/))
      checkLength(text.indexOf(sentence), 'sentence', sentence);
  for (const { pattern, advice } of PHRASES)
    for (const match of text.matchAll(pattern)) {
      const found = `"${match[0].trim()}"`;
      findings.push({ line: line + lineOf(lines, match.index), kind: 'phrase', found, advice });
    }
  return findings;
}

/** Index of the line that holds a position of the lines joined by spaces. */
function lineOf(lines: readonly string[], position: number): number {
  let start = 0;
  for (const [index, line] of lines.entries()) {
    start += line.length + 1;
    if (position < start) return index;
  }
  return lines.length - 1;
}
