import { ERROR_REMEDIES } from './error-remedies.ts';
import type { SourceFile } from './source-files.ts';

/** One place in the sources that makes an error. */
export interface DocumentedError {
  readonly code: string;
  /** The sentence, with `…` where values stand. */
  readonly message: string;
  readonly remedy: string;
  /** Whether the same thing tried again may succeed. */
  readonly retry: 'yes' | 'no' | 'depends';
  /** Package or application. */
  readonly owner: string;
}

/** `code: 'X'` in the parts of an error, or the beginning of a class of `defineError` or the like, up to the parts. */
const CODE =
  /(?:\bcode: |\bdefine\w*Error\(\s*)'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)'(?:,\s*\((?:(?!=>)[\s\S])*=> (?:\{[\s\S]*?\breturn |\()\{)?/g;
const PLACEHOLDER = String.raw`\$\{(?:[^{}]|\{[^{}]*\})*\}`;
const TEXT = String.raw`('(?:[^'\\]|\\.)*'|\`(?:[^\`\\$]|\\.|${PLACEHOLDER})*\`|"(?:[^"\\]|\\.)*")`;

/** An error class, or GraphQL's `refusal`, that takes code, message and remedy one after the other. */
const POSITIONAL = new RegExp(
  `(?:new \\w+Error|refusal)\\(\\s*'([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)',\\s*${TEXT}(?:,\\s*${TEXT})?`,
  'g',
);

const FLOORS = [
  'packages/foundation',
  'packages/doors',
  'packages/engine',
  'packages/assets',
  'packages/products',
  'apps',
];

/** Every error of the program by code, as the sources (tests and the testkit left out) make them. */
export function collectErrors(files: readonly SourceFile[]): DocumentedError[] {
  return readErrors(files)
    .map(withRemedy)
    .toSorted((a, b) => a.code.localeCompare(b.code, 'en'));
}

function readErrors(files: readonly SourceFile[]): DocumentedError[] {
  const byCode = new Map<string, DocumentedError>();
  const floorOf = ({ path }: SourceFile): number => FLOORS.findIndex((floor) => path.startsWith(floor));
  // A code belongs to the lowest package that has it.
  const product = files.filter(isProduct).toSorted((a, b) => floorOf(a) - floorOf(b));
  for (const file of product)
    for (const match of file.text.matchAll(CODE)) {
      const error = readError(file, match[1] ?? '', match.index + match[0].length);
      if (!byCode.has(error.code) || byCode.get(error.code)?.message === '') byCode.set(error.code, error);
    }
  for (const file of product)
    for (const [, code = '', message = '', remedy = ''] of file.text.matchAll(POSITIONAL))
      if (!byCode.has(code))
        byCode.set(code, {
          code,
          message: plain(message),
          remedy: plain(remedy),
          retry: 'no',
          owner: ownerOf(file),
        });
  return [...byCode.values()];
}

/** The texts in {@link ERROR_REMEDIES} that no error needs: its own text says it, or there is no such error. */
export function needlessRemedies(files: readonly SourceFile[]): string[] {
  const wanting = new Set(readErrors(files).flatMap(({ code, remedy }) => (remedy === '' ? [code] : [])));
  return Object.keys(ERROR_REMEDIES).filter((code) => !wanting.has(code));
}

function withRemedy(error: DocumentedError): DocumentedError {
  return error.remedy === '' ? { ...error, remedy: ERROR_REMEDIES[error.code] ?? '' } : error;
}

/** docs/reference/errors.md: one heading per code, grouped by the package that throws it. */
export function renderErrorPage(errors: readonly DocumentedError[]): string {
  const groups = [...Map.groupBy(errors, ({ owner }) => owner)].toSorted(([a], [b]) => a.localeCompare(b, 'en'));
  return `# Errors

This page lists every error code, grouped by package. Logs show the code as \`err.code\`; commands print it after the message.
\`npm run generate\` writes this page from the sources.
${groups.map(([owner, ofGroup]) => `\n## ${owner}\n\n${ofGroup.map(renderError).join('\n')}`).join('')}`;
}

const RETRIES: Readonly<Record<DocumentedError['retry'], string>> = {
  yes: ' A retry can succeed.',
  depends: ' A retry can succeed, depending on the cause.',
  no: '',
};

function renderError({ code, message, remedy, retry }: DocumentedError): string {
  const fix = remedy.endsWith('.') ? remedy : `${remedy}.`;
  return `### ${code}\n\n- **Message:** ${inline(message)}\n- **Fix:** ${inline(fix)}${RETRIES[retry]}\n`;
}

function isProduct(file: SourceFile): boolean {
  return (
    /^(apps|packages)\//.test(file.path) && !file.path.endsWith('.test.ts') && !file.path.includes('/testing/')
  );
}

function readError(file: SourceFile, code: string, index: number): DocumentedError {
  const object = enclosingObject(file.text, index);
  const retryable = /\bretryable(?:: (\w+))?/.exec(object);
  return {
    code,
    message:
      readText(object, 'message') ||
      readNamedMessage(file.text, object, index) ||
      readDescription(file.text, index),
    remedy: readText(object, 'remedy'),
    retry: retryable === null || retryable[1] === 'false' ? 'no' : retryable[1] === 'true' ? 'yes' : 'depends',
    owner: ownerOf(file),
  };
}

/** The text between the braces around a position. */
function enclosingObject(text: string, index: number): string {
  let depth = 0;
  let start = index;
  for (; start > 0; start -= 1) {
    if (text[start] === '}') depth += 1;
    if (text[start] === '{') {
      if (depth === 0) break;
      depth -= 1;
    }
  }
  depth = 0;
  let end = start;
  for (; end < text.length; end += 1) {
    if (text[end] === '{') depth += 1;
    if (text[end] === '}') depth -= 1;
    if (depth === 0) break;
  }
  return text.slice(start + 1, end);
}

function ownerOf(file: SourceFile): string {
  return file.path.split('/')[file.path.startsWith('packages/') ? 2 : 1] ?? '';
}

function readText(object: string, field: string): string {
  const match = new RegExp(`\\b${field}:\\s*(?:[^'"\`,]*\\?\\s*)?${TEXT}`).exec(object);
  return plain(match?.[1] ?? '');
}

/** A literal as its reader sees it, with `…` where values stand. */
function plain(literal: string): string {
  return literal
    .slice(1, -1)
    .replaceAll(new RegExp(PLACEHOLDER, 'g'), '…')
    .replaceAll(/\\(.)/g, (_whole, character: string) => (character === 'n' ? ' ' : character));
}

/** The literal of the nearest `const message` above an error that takes it by its name. */
function readNamedMessage(text: string, object: string, index: number): string {
  if (!/\bmessage\b(?!:)/.test(object)) return '';
  const found = [...text.slice(0, index).matchAll(new RegExp(`const message = ${TEXT}`, 'g'))].at(-1);
  // A constant of another function is too far away.
  return found === undefined || index - found.index > 600 ? '' : plain(found[1] ?? '');
}

/** The first sentence of the doc comment above the class or function that makes the error. */
function readDescription(text: string, index: number): string {
  const comment =
    text
      .slice(0, index)
      .match(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/(?=\n(?:export )?(?:class|function))/g)
      ?.at(-1) ?? '';
  const plain = comment.replaceAll(/^\/\*\*|\*\/$|^\s*\* ?/gm, '').replaceAll(/\s+/g, ' ');
  return (/^.*?[.](?= |$)/.exec(plain.trim())?.[0] ?? plain).trim();
}

/** Text as Markdown: `<NAME>` outside of code is no HTML tag. */
function inline(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replaceAll('<', '\\<') : part))
    .join('`');
}
