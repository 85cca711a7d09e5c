import { describe, expect, test } from 'vitest';
import { findProse } from './prose.ts';
import { findSourceProse } from './source-prose.ts';

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');
const places = (markdown: string) => findProse(markdown).map(({ line, found }) => `${line}: ${found}`);

describe('findProse', () => {
  test.each([
    ['It returns what is stored.', '"what is stored"'],
    ['Deletes what a wallet sold.', '"what a wallet sold"'],
    ['Nobody reads it.', '"Nobody"'],
    ['The command tells the height.', '"tells"'],
    ['Of a wallet only one row remains.', '"Of a"'],
    ['The table is read anew.', '"anew"'],
    ['Work goes on.', '"goes on"'],
    ['The answer of the node is empty.', '"answer"'],
    ["The chain's own coin has no contract.", '"own coin"'],
    ['It holds some 250 rows.', '"some 250"'],
  ])('%s', (text, found) => {
    expect(places(text)).toEqual([`1: ${found}`]);
  });

  test('passes plain sentences, code blocks and inline code', () => {
    const text = 'Of course, `nobody` is a user.\n\n```sh\nchainstead tells\n```\n\nSee [it](nobody.md).';
    expect(places(text)).toEqual([]);
  });

  test('limits sentences, paragraphs and table cells, but not code', () => {
    expect(places(`Short.\nWord ${words(31)}.`)).toEqual([]);
    expect(places(`Short.\nWord ${words(32)}.`)).toEqual(['2: sentence of 33 words']);
    expect(places(Array.from({ length: 9 }, () => `W ${words(8)}.`).join('\n'))).toEqual([
      '1: paragraph of 81 words',
    ]);
    expect(places(`| a | b |\n|---|---|\n| ${words(25)} | ${words(26)} |`)).toEqual(['3: cell of 26 words']);
    expect(places(`\`\`\`\n${words(200)}\n\`\`\``)).toEqual([]);
  });
});

describe('findSourceProse', () => {
  const read = (text: string) => {
    const { comments, literals } = findSourceProse({ path: 'file.ts', text });
    const shown = ({ line, found }: { line: number; found: string }) => `${line}: ${found}`;
    return { comments: comments.map(shown), literals: literals.map(shown) };
  };

  test('reads doc comments and line comments below each other', () => {
    const text =
      '/**\n * Rows.\n * Nobody reads them.\n */\nconst a = 1; // it tells all\n\n// They go\n// on here.\nconst b = 2;\n';
    expect(read(text).comments).toEqual(['3: "Nobody"', '5: "tells"', '7: "go on"']);
  });

  test('reads literals of three words, and templates with their values left out', () => {
    const text = `f('somebody');\nf('nobody\\'s own row');\nf(\`the node \${\n  tells(1)\n} by itself\`);\n`;
    expect(read(text).literals).toEqual([`2: "nobody"`, '5: "by itself"']);
  });

  test('skips SQL, signatures, and the length of code', () => {
    const text = `const sql = \`SELECT answer FROM answers WHERE told\`;\nconst abi = 'event Sold(${words(40)})';\nconst code = \`{\n ${words(40)}}\`;`;
    expect(read(text).literals).toEqual([]);
  });
});
