import { type Comment, parseSync, Visitor } from 'oxc-parser';
import { findProse, type ProseFinding } from './prose.ts';
import type { SourceFile } from './source-files.ts';

/** Findings in the texts of a TypeScript file. */
export interface SourceProse {
  readonly comments: readonly ProseFinding[];
  /** In messages, summaries, labels and other literals with at least {@link FEWEST_WORDS} words. */
  readonly literals: readonly ProseFinding[];
}

interface Passage {
  /** Position in the file. */
  readonly start: number;
  readonly text: string;
}

const FEWEST_WORDS = 3;
/** Between HTML elements other than those within a sentence. */
const BLOCK_TAG = /(?=<\/?(?!(?:a|abbr|b|code|em|i|kbd|small|span|strong|time)\b)[a-z])/i;
/** A signature of the ABI, whose parameters are no words. */
const SIGNATURE = /^(?:event|function|error|struct)? ?\w*\(/;
const SQL = /^[\s(]*(?:SELECT|WITH|INSERT|UPDATE|DELETE|CREATE)\b/;

/** Returns the findings of a file, with its line numbers. */
export function findSourceProse({ path, text: source }: SourceFile): SourceProse {
  const { program, comments } = parseSync(path, source);
  const literals: ProseFinding[] = [];
  const findAt = ({ start, text }: Passage): ProseFinding[] => {
    const findings = findProse(text);
    const linesBefore = findings.length === 0 ? 0 : source.slice(0, start).split('\n').length - 1;
    return findings.map((finding) => ({ ...finding, line: finding.line + linesBefore }));
  };
  const readLiteral = (start: number, literal: string) => {
    if (SQL.test(literal)) return;
    let position = start;
    // A literal of several lines is SQL, code or a list of examples, which have no sentences to measure.
    const hasSentences = !literal.includes('\n') && !SIGNATURE.test(literal);
    for (const part of literal.split(BLOCK_TAG)) {
      const findings =
        part.trim().split(/\s+/).length < FEWEST_WORDS
          ? []
          : findAt({ start: position, text: withoutEscapes(part) });
      literals.push(...findings.filter(({ kind }) => kind === 'phrase' || hasSentences));
      position += part.length;
    }
  };
  new Visitor({
    Literal: ({ value, start, end }) => {
      if (typeof value === 'string') readLiteral(start + 1, source.slice(start + 1, end - 1));
    },
    TemplateLiteral: ({ start, end, expressions }) => {
      let literal = source.slice(start + 1, end - 1);
      for (const expression of expressions.toReversed()) {
        const [from, to] = [expression.start - start - 1, expression.end - start - 1];
        // Its lines are kept, so that those after it have their numbers.
        literal = literal.slice(0, from) + literal.slice(from, to).replaceAll(/[^\n]+/g, '…') + literal.slice(to);
      }
      readLiteral(start + 1, literal);
    },
  }).visit(program);
  return { comments: joinLineComments(comments, source).flatMap(findAt), literals };
}

/** Comments without their marks. `//` lines below each other are one comment. */
function joinLineComments(comments: readonly Comment[], source: string): Passage[] {
  const joined: { start: number; end: number; text: string; isLine: boolean }[] = [];
  for (const { type, value, start, end } of comments) {
    const last = joined.at(-1);
    const isLine = type === 'Line';
    if (isLine && last?.isLine && /^\n[ \t]*$/.test(source.slice(last.end, start))) {
      last.text += `\n${value.trim()}`;
      last.end = end;
    } else
      joined.push({ start, end, text: isLine ? value.trim() : value.replaceAll(/^[ \t]*\*+ ?/gm, ''), isLine });
  }
  return joined;
}

function withoutEscapes(literal: string): string {
  return literal.replaceAll('\\n', ' ').replaceAll(/\\(.)/g, '$1');
}
