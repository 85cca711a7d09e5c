import { spawn } from 'node:child_process';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Closable, closeOf, programToStart } from '@chainstead/testkit';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** Commands that run until they are stopped. */
const RUNS_ON = /^(?:npx chainstead start|npm start)$/m;

/** A page of the documentation, followed block by block in an empty folder with the program installed. */
export interface FollowedPage extends Closable {
  /** Replaces a documented text by one of this machine, from now on. */
  replace(documented: string, real: string): void;
  /** Writes lines into the `.env` of the folder. */
  configure(lines: string): Promise<void>;
  /**
   * Runs the next shell block in a new shell, or adds the next `env` block to `.env`. The program keeps running in the background
   * if the block starts it.
   * @param part a text of the block. @throws if another block is next, or if a command fails
   * @returns the output
   */
  next(part: string): Promise<string>;
  /** Leaves the next block out. */
  skip(part: string): void;
  /** Blocks that are left. */
  left(): readonly string[];
  /** Output of the commands in the background. */
  output(): string;
}

/** @param page below `docs`. @param path folders of further programs */
export async function followPage(page: string, path: readonly string[] = []): Promise<FollowedPage> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-page-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  await install(folder);
  const text = await readFile(join(ROOT, 'docs', page), 'utf8');
  const blocks = [...text.matchAll(/^( *)```(sh|bash|env)\n([\s\S]*?)^ *```/gm)].map(
    ([, indent = '', language = '', code = '']) => ({ language, code: code.replaceAll(`\n${indent}`, '\n').trim() }),
  );
  const replaced = new Map<string, string>();
  const placed = (code: string): string => [...replaced].reduce((now, [from, to]) => now.replaceAll(from, to), code);
  const take = (part: string): (typeof blocks)[number] => {
    const [block] = blocks;
    if (block === undefined || !block.code.includes(part))
      throw new Error(`The next block of ${page} is not the one with "${part}" but: ${block?.code}`);
    blocks.shift();
    return block;
  };
  const running: (() => Promise<void>)[] = [];
  parts.defer(async () => void (await Promise.all(running.map((stop) => stop()))));
  const { PATH = '', HOME } = process.env;
  let output = '';
  const start = (code: string) => {
    const shell = spawn('bash', ['-ec', code], {
      cwd: folder,
      env: { PATH: [...path, PATH].join(':'), HOME, TMPDIR: folder, LC_ALL: 'C' },
      // A separate process group: `npx` and `npm` start the program as a child.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let written = '';
    for (const stream of [shell.stdout, shell.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        written += chunk;
        output += chunk;
      });
    const ended = new Promise<number | null>((resolve) => shell.on('close', resolve));
    return { shell, ended, written: () => written };
  };
  return {
    replace: (documented, real) => void replaced.set(documented, real),
    configure: (lines) => appendFile(join(folder, '.env'), `${lines}\n`),
    async next(part) {
      const { language, code } = take(part);
      if (language === 'env') {
        await appendFile(join(folder, '.env'), `${placed(code)}\n`);
        return '';
      }
      const { shell, ended, written } = start(placed(code));
      if (RUNS_ON.test(code)) {
        running.push(async () => {
          if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, 'SIGTERM');
          await ended;
        });
        return '';
      }
      const exitCode = await ended;
      if (exitCode !== 0) throw new Error(`${placed(code)} ended with ${exitCode}:\n${written()}`);
      return written();
    },
    skip: (part) => void take(part),
    left: () => blocks.map(({ code }) => code),
    output: () => output,
    ...closeOf(parts),
  };
}

/** Makes `npx chainstead` and `npm start` work in a folder, as after an installation. */
async function install(folder: string): Promise<void> {
  const { entry, environment } = programToStart();
  const variables = Object.entries(environment).map(([key, value]) => `export ${key}='${value}'`);
  const bin = join(folder, 'node_modules/.bin');
  await mkdir(bin, { recursive: true });
  const script = ['#!/bin/sh', ...variables, `exec '${process.execPath}' '${entry}' "$@"`, ''];
  await writeFile(join(bin, 'chainstead'), script.join('\n'), { mode: 0o755 });
  const manifest = { name: 'installed', private: true, scripts: { start: 'chainstead start' } };
  await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));
}
