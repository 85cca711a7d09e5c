import { basename, dirname, join } from 'node:path';
import { REPOSITORY_ROOT, type SourceFile } from './source-files.ts';

/** The code of an `@example` in a doc comment. */
export interface DocumentedExample {
  /** From the repository root, with `/`. */
  readonly path: string;
  /** What the comment is of: `Dataset`. */
  readonly of: string;
  /** Its relative imports made absolute, so that it compiles in any folder. */
  readonly code: string;
}

const DOC_COMMENT = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*export (?:declare )?\w+ (\w+)/g;
const EXAMPLE = /@example\s+```ts\n([\s\S]*?)\n```/g;

/** The TypeScript of every `@example` whose comment is right above what a file exports. */
export function readExamples({ path, text }: SourceFile): DocumentedExample[] {
  return [...text.matchAll(DOC_COMMENT)].flatMap(([, comment = '', of = '']) => {
    const plain = comment.replaceAll(/^ *\* ?/gm, '');
    return [...plain.matchAll(EXAMPLE)].map(([, code = '']) => ({
      path,
      of,
      code: withAbsoluteImports(path, code),
    }));
  });
}

const RECIPE = /^```ts\n(\/\/ (\S+)\n[\s\S]*?)\n```$/gm;

/** The TypeScript blocks of a document that begin with the path of their file. */
export function readRecipes(document: string): DocumentedExample[] {
  return [...document.matchAll(RECIPE)].map(([, code = '', path = '']) => ({
    path,
    of: basename(path, '.ts'),
    code: withAbsoluteImports(path, code),
  }));
}

const PROGRAM = /^```ts\n(import [\s\S]*?)\n```$/gm;

/** The TypeScript blocks of a document that begin with an import: whole programs. */
export function readPrograms({ path, text }: SourceFile): DocumentedExample[] {
  return [...text.matchAll(PROGRAM)].map(([, code = '']) => ({ path, of: basename(path, '.md'), code }));
}

function withAbsoluteImports(path: string, code: string): string {
  const folder = join(REPOSITORY_ROOT, dirname(path));
  return code.replaceAll(
    /(from ')(\.{1,2}\/[^']+)/g,
    (_, before: string, specifier: string) => before + join(folder, specifier),
  );
}
