/**
 * Setup of each test file: records the columns and value kinds that statements of a test run return, by source location
 * of the call. Wraps `pg` here, so that the program contains none of it.
 */
import { appendFileSync, mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll } from 'vitest';
import { kindOf, OBSERVED_FOLDER_VARIABLE, type ObservedRows } from './observed-rows.ts';

/** Source locations of one stack, innermost first: of running calls, and of calls suspended at an `await`. */
interface Frames {
  readonly calls: readonly string[];
  readonly awaits: readonly string[];
}

interface Recorded {
  readonly frames: readonly string[];
  readonly columns: readonly { readonly name: string; readonly kinds: Set<string> }[];
  isWritten: boolean;
}

/** Maximum frames between a statement and its caller, with those of `pg` and the database package. */
const FRAMES_MAX = 25;
/** Maximum inspected rows per result. */
const ROWS_MAX = 100;

/**
 * Columns that are false in outer join rows without a match: their reader drops such rows, so their nulls don't count.
 */
const STANDS_FOR_NONE = ['isThere', 'isFound'];

const REPOSITORY_ROOT = fileURLToPath(new URL('../../../../../', import.meta.url));
const stacks = new Map<string, Frames>();
const recorded = new Map<string, Recorded>();
/**
 * Frames at the time of the connect call. The pool sends a statement once it has a connection: the calling code is
 * known by then, but not the code that awaits the statement.
 */
const connectedAt = new WeakMap<object, Frames>();
const NO_FRAMES: Frames = { calls: [], awaits: [] };
const WRITE = Symbol.for('chainstead.writeObservedRows');
const folder = process.env[OBSERVED_FOLDER_VARIABLE];

if (folder !== undefined) afterAll(recorderOf(folder));

/**
 * Wraps `pg` once: all files of a process share it, while this module is loaded once per file. @returns the function
 * that writes the record
 */
function recorderOf(into: string): () => void {
  const { query } = pg.Client.prototype;
  const writeKnown: unknown = Reflect.get(query, WRITE);
  if (typeof writeKnown === 'function') return () => Reflect.apply(writeKnown, undefined, []);
  const { connect } = pg.Pool.prototype;
  pg.Pool.prototype.connect = new Proxy(connect, {
    apply(target, pool, args) {
      const connected: unknown = Reflect.apply(target, pool, args);
      if (connected instanceof Promise) {
        const frames = callFrames();
        connected.then((client: object) => connectedAt.set(client, frames), ignore);
      }
      return connected;
    },
  });
  const recordedQuery = function (this: object, ...args: unknown[]): unknown {
    const framesOf = (): string[] => {
      const [sent, connected] = [callFrames(), connectedAt.get(this) ?? NO_FRAMES];
      return [...sent.calls, ...connected.calls, ...sent.awaits, ...connected.awaits];
    };
    // A statement whose rows have camelCase names reports to its callback.
    const [submitted] = args;
    if (submitted instanceof pg.Query) recordAtEnd(submitted, framesOf());
    const result: unknown = Reflect.apply(query, this, args);
    if (result instanceof Promise) {
      const frames = framesOf();
      result.then((answer: unknown) => record(frames, answer), ignore);
    }
    return result;
  };
  const writeAll = (): void => write(into);
  Object.assign(pg.Client.prototype, { query: Object.assign(recordedQuery, { [WRITE]: writeAll }) });
  return writeAll;
}

function recordAtEnd(submitted: object, frames: readonly string[]): void {
  const callback: unknown = Reflect.get(submitted, 'callback');
  if (typeof callback !== 'function') return;
  const recorded = (error: unknown, answer: unknown): void => {
    record(frames, answer);
    Reflect.apply(callback, submitted, [error, answer]);
  };
  Object.assign(submitted, { callback: recorded });
}

/** The code that sent the statement gets its error. */
function ignore(): void {}

function record(frames: readonly string[], answer: unknown): void {
  if (!(answer instanceof pg.Result) || frames.length === 0) return;
  const { fields, rows } = answer;
  const key = `${frames.join()} ${fields.map(({ name }) => name).join()}`;
  const known = recorded.get(key);
  const of: Recorded = known ?? {
    frames,
    columns: fields.map(({ name }) => ({ name, kinds: new Set() })),
    isWritten: false,
  };
  if (known === undefined) recorded.set(key, of);
  for (const row of rows
    .slice(0, ROWS_MAX)
    .filter((some) => !STANDS_FOR_NONE.some((name) => some[name] === false)))
    for (const { name, kinds } of of.columns) {
      const kind = kindOf(row[name]);
      if (kinds.has(kind)) continue;
      kinds.add(kind);
      of.isWritten = false;
    }
}

function write(into: string): void {
  const lines = [...recorded.values()]
    .filter(({ isWritten }) => !isWritten)
    .map((of) => {
      of.isWritten = true;
      const columns = of.columns.map(({ name, kinds }) => ({ name, kinds: [...kinds] }));
      return `${JSON.stringify({ frames: of.frames, columns } satisfies ObservedRows)}\n`;
    });
  if (lines.length === 0) return;
  mkdirSync(into, { recursive: true });
  appendFileSync(join(into, `${process.pid}.jsonl`), lines.join(''));
}

/** Returns the frames in the sources. Each distinct stack is parsed only once, because that takes a source map. */
function callFrames(): Frames {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES_MAX;
  try {
    Error.prepareStackTrace = rawPlaces;
    const raw = String(new Error('here').stack);
    const known = stacks.get(raw);
    if (known !== undefined) return known;
    Error.prepareStackTrace = prepareStackTrace;
    const [calls = '', ...awaits] = String(new Error('here').stack).split('processTicksAndRejections');
    const frames = { calls: placesIn(calls), awaits: placesIn(awaits.join('')) };
    stacks.set(raw, frames);
    return frames;
  } finally {
    Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  }
}

function rawPlaces(_: Error, sites: readonly NodeJS.CallSite[]): string {
  return sites.map((site) => `${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`).join();
}

const FRAME = /^\s+at .*?\(?((?:file:\/\/)?\/[^():]+:\d+:\d+)\)?$/gm;

function placesIn(stack: string): string[] {
  return [...stack.matchAll(FRAME)]
    .map(([, place = '']) => relative(REPOSITORY_ROOT, place.replace('file://', '')))
    .filter((place) => /^(?:apps|packages|tests)\//.test(place));
}
