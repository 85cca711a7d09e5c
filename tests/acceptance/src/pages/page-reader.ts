import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Closable, closeOf, programToStart } from '@chainstead/testkit';
import { type PageStep, ROOT, readPageSteps } from './page-steps.ts';
import { createTerminal, type StartedCommand } from './page-terminal.ts';

/** Someone who follows pages of the documentation, with the program installed in a folder as in a checkout after `npm ci`. */
export interface PageReader extends Closable {
  readonly folder: string;
  /** Replaces a documented text by one of this machine, from now on. */
  replace(documented: string, real: string): void;
  /** Writes lines into the `.env` of the folder. */
  configure(lines: string): Promise<void>;
  /** Opens a page in a new terminal. Commands that it starts run until the reader is closed. @param page below `docs` */
  open(page: string): Promise<FollowedPage>;
  /** Opens a page, follows it, and closes it. */
  follow(page: string, steps: (page: FollowedPage) => Promise<void>): Promise<void>;
  /** Outputs of all commands. */
  output(): string;
}

/** Each function takes the next step of the page. @param part a text of that step. @throws if another step is next */
export interface FollowedPage {
  /** Runs a command, adds settings to `.env`, or saves a file under the name that the page gives it. @returns the output */
  next(part: string): Promise<string>;
  /** Runs a command that fails, as the page announces. @returns the output */
  fails(part: string): Promise<string>;
  /** Runs SQL statements in psql, each in a separate transaction. @param url the database, as the role that the page names */
  query(part: string, url: string): Promise<string>;
  /** Starts a command that runs until it is stopped, in another terminal. */
  start(part: string): Promise<StartedCommand>;
  /** Leaves steps out. @param reason why this machine can't do them, or the test that does */
  skip(reason: string, ...parts: readonly string[]): void;
  /** @throws if a step of the page was neither done nor skipped */
  close(): void;
}

/** @param path folders of further programs */
export async function createPageReader(path: readonly string[] = []): Promise<PageReader> {
  await using parts = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'chainstead-page-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  await install(folder);
  // Outputs are no terminal, which curl would show its progress in.
  await writeFile(join(folder, '.curlrc'), 'silent\n');
  const replaced = new Map<string, string>();
  const placed = (code: string): string =>
    [...replaced].reduce((now, [from, to]) => now.replaceAll(from, to), code);
  const { PATH = '', HOME = '' } = process.env;
  const environment = {
    PATH: [...path, PATH].join(':'),
    HOME,
    TMPDIR: folder,
    CURL_HOME: folder,
    LC_ALL: 'C.UTF-8',
  };
  let output = '';
  const started = parts.adopt(new Set<StartedCommand>(), async (commands) => {
    await Promise.all([...commands].map((command) => command.stop()));
  });
  const open = async (page: string): Promise<FollowedPage> => {
    const left = [...(await readPageSteps(page))];
    const take = (part: string): PageStep => {
      const [step] = left;
      if (step === undefined || !step.code.includes(part))
        throw new Error(`The next step of ${page} is not the one with "${part}" but: ${step?.code}`);
      left.shift();
      return { ...step, code: placed(step.code) };
    };
    const terminal = createTerminal(folder, environment, (written) => (output += written));
    return {
      async next(part) {
        const { kind, code, name } = take(part);
        if (kind === 'command') return terminal.run(code);
        if (kind === 'statements') throw new Error(`${page}: no database was named for ${code}`);
        await appendFile(resolve(terminal.folder(), kind === 'settings' ? '.env' : (name ?? '')), `${code}\n`);
        return '';
      },
      fails: (part) => terminal.run(take(part).code, 'fails'),
      query: (part, url) => terminal.run(`psql -X -v ON_ERROR_STOP=1 '${url}' <<'END'\n${take(part).code}\nEND`),
      async start(part) {
        const command = terminal.start(take(part).code);
        started.add(command);
        return command;
      },
      skip(reason, ...skipped) {
        if (reason === '') throw new Error(`${page}: nothing says why ${skipped} is skipped`);
        for (const part of skipped) take(part);
      },
      close() {
        const forgotten = left.map(({ code }) => code);
        if (forgotten.length > 0)
          throw new Error(`Neither done nor skipped on ${page}:\n${forgotten.join('\n\n')}`);
      },
    };
  };
  return {
    folder,
    replace: (documented, real) => void replaced.set(documented, real),
    configure: (lines) => appendFile(join(folder, '.env'), `${lines}\n`),
    open,
    async follow(page, steps) {
      const followed = await open(page);
      await steps(followed);
      followed.close();
    },
    output: () => output,
    ...closeOf(parts),
  };
}

/** Makes a folder look like a checkout after `npm ci`, with the program of this tree. */
async function install(folder: string): Promise<void> {
  const { entry, environment } = programToStart();
  const variables = Object.entries(environment).map(([key, value]) => `export ${key}='${value}'`);
  const modules = join(folder, 'node_modules');
  await mkdir(join(modules, '.bin'), { recursive: true });
  const link = async (names: readonly string[]): Promise<unknown> =>
    Promise.all(names.map((name) => symlink(join(ROOT, 'node_modules', name), join(modules, name))));
  await link((await readdir(join(ROOT, 'node_modules'))).filter((name) => !name.startsWith('.')));
  const programs = await readdir(join(ROOT, 'node_modules/.bin'));
  await link(programs.filter((name) => name !== 'chainstead').map((name) => `.bin/${name}`));
  const script = ['#!/bin/sh', ...variables, `exec '${process.execPath}' '${entry}' "$@"`, ''];
  await writeFile(join(modules, '.bin/chainstead'), script.join('\n'), { mode: 0o755 });
  const { type, scripts }: { type: string; scripts: object } = JSON.parse(
    await readFile(join(ROOT, 'package.json'), 'utf8'),
  );
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ name: 'checkout', private: true, type, scripts }),
  );
}
