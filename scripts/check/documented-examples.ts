import { dirname, join } from 'node:path';
import { REPOSITORY_ROOT, type SourceFile } from './source-files.ts';

/** The code of an `@example` in a doc comment. */
export interface DocumentedExample {
  /** From the repository root, with `/`. */
  readonly path: string;
  /** What the comment is of: `Dataset`. */
  readonly of: string;
  /** Its relative imports made absolute, so that it compiles wherever it is put. */
  readonly code: string;
}

const DOC_COMMENT = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export (?:declare )?\w+ (\w+)/g;
const EXAMPLE = /@example\s+```ts\n([\s\S]*?)\n```/g;

/** The TypeScript of every `@example` whose comment is right above what a file exports. */
export function readExamples({ path, text }: SourceFile): DocumentedExample[] {
  const folder = join(REPOSITORY_ROOT, dirname(path));
  return [...text.matchAll(DOC_COMMENT)].flatMap(([, comment = '', of = '']) => {
    const plain = comment.replaceAll(/^ *\* ?/gm, '');
    return [...plain.matchAll(EXAMPLE)].map(([, code = '']) => ({
      path,
      of,
      code: code.replaceAll(
        /(from ')(\.{1,2}\/[^']+)/g,
        (_, before: string, specifier: string) => before + join(folder, specifier),
      ),
    }));
  });
}
