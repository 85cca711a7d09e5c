/** Every operation has an example on a page of docs/api, with the response of the demo. `npm run examples` writes them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createScratchDatabase } from '@chainstead/testkit';
import { stageOfFile } from '@chainstead/testkit/hooks';
import { expect, test, vi } from 'vitest';
import { type DemoChain, startDemoChain } from '../../apps/chainstead/src/demo/demo-chain.ts';
import { startDemoStream } from '../../apps/chainstead/src/demo/demo-stream.ts';
import { startWebhookReceiver } from '../../apps/chainstead/src/demo/network/webhook-receiver.ts';
import { startDemoApi } from '../answers/demo-api.ts';
import type { ApiDocument, Operation } from '../answers/requests.ts';
import { listFiles, REPOSITORY_ROOT } from '../check/source-files.ts';
import {
  changingExamples,
  type DemoParts,
  type Example,
  pastBlocks,
  readingExamples,
  requiredValues,
  WITHOUT_EXAMPLE,
} from './demo-examples.ts';
import { type PlacedExample, placeExamples } from './example-pages.ts';
import { renderExample, type SentRequest } from './example-text.ts';
import { missingParts } from './final-responses.ts';
import { createStableTexts } from './stable-texts.ts';

/** Most responses have 15 lines, a decoded transaction 60. */
const LINES_MAX = 70;
/** The tests' time exceeds the sum. */
const DELIVERY = { timeout: 15_000, interval: 300 };
const PATIENCE = { timeout: 60_000, interval: 3_000 };
/** Optional parameters that every example has. */
const ALWAYS: Example = { chain: 'devnet', chains: 'devnet', limit: 3 };

interface NamedOperation extends Operation {
  readonly method: string;
  readonly path: string;
  readonly name: string;
}

const DAY_SECONDS = 86_400;
/** Yesterday at midnight, UTC: within the last days that statistics cover. Unix seconds. */
const CHAIN_START = Math.floor(Date.now() / 1_000 / DAY_SECONDS - 1) * DAY_SECONDS;
const { stable } = createStableTexts(CHAIN_START);

const stage = stageOfFile(async () => {
  await using starting = new AsyncDisposableStack();
  const keyless = { API_KEYS: '' };
  const api = starting.adopt(await startDemoApi(createScratchDatabase, keyless, startExampleChain), (one) =>
    one.close(),
  );
  const address = await api.program.url;
  const stream = starting.adopt(await startDemoStream(address, api.chain), (one) => one.close());
  const receiver = starting.adopt(await startWebhookReceiver(), (one) => one.close());
  const [sale] = await api.chain.script.expectedTrades();
  if (sale === undefined) throw new RangeError('The demo begins with a sale');
  // One webhook, for the lists of deliveries.
  await api.send({ method: 'POST', path: '/historicalJobs/createJob', body: pastBlocks({ stream, sale }) });
  const webhook = await vi.waitUntil(() => stream.webhooks()[0], DELIVERY);
  const webhookBlock = Number(webhook.block.number);
  const webhookUrl = `${receiver.url}/webhook`;
  const parts: DemoParts = { chain: api.chain, sale, stream, webhookBlock, webhookUrl };
  const opened = starting.move();
  return { api, parts, close: () => opened.disposeAsync() };
});

/** The chain of `npm run demo` after its first sale, with the same time between blocks in each run. */
async function startExampleChain(): Promise<DemoChain> {
  const chain = await startDemoChain({ firstTime: CHAIN_START, secondsPerBlock: 12 });
  await chain.script.sell('listing');
  return chain;
}

test('every operation has an example with the response of the demo, next to its description', async () => {
  const operations = await readOperations();
  const [given, changing] = [readingExamples(stage.parts), changingExamples(stage.parts)];
  expect(
    Object.keys({ ...given, ...changing, ...WITHOUT_EXAMPLE }).filter((name) => !operations.has(name)),
  ).toEqual([]);
  const reading = [...operations.keys()].filter((name) => !(name in changing || name in WITHOUT_EXAMPLE));
  const placed: PlacedExample[] = [];
  await vi.waitFor(async () => {
    const before = [...placed];
    placed.splice(0, placed.length, ...(await showAll(operations, reading, given)));
    expect(placed.filter(({ text }) => !text.startsWith('```'))).toEqual([]);
    expect(missingParts(placed)).toEqual([]);
    expect(placed).toEqual(before);
  }, PATIENCE);
  placed.push(...(await showAll(operations, Object.keys(changing), changing)));
  expect(placed.filter(({ text }) => !text.startsWith('```'))).toEqual([]);
  for (const { operation, text } of placed)
    expect.soft([operation, text.split('\n').length <= LINES_MAX]).toEqual([operation, true]);

  const paths = listFiles('docs/api/*.md').filter((path) => path !== 'docs/api/endpoints.md');
  const pages = new Map(paths.map((path) => [path, readFileSync(join(REPOSITORY_ROOT, path), 'utf8')]));
  const result = placeExamples(pages, placed);
  expect(result.unplaced).toEqual([]);
  for (const [path, text] of result.placed)
    await expect.soft(text, path).toMatchFileSnapshot(join(REPOSITORY_ROOT, path));
});

async function readOperations(): Promise<ReadonlyMap<string, NamedOperation>> {
  const response = await stage.api.send({ method: 'GET', path: '/openapi.json' });
  const { paths } = (await response.json()) as ApiDocument;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([verb, operation]) => {
      const method = verb.toUpperCase();
      return { ...operation, method, path, name: operation.operationId ?? `${method} ${path}` };
    }),
  );
  return new Map(operations.map((operation) => [operation.name, operation]));
}

/** Sends requests one after the other. */
async function showAll(
  operations: ReadonlyMap<string, NamedOperation>,
  names: readonly string[],
  given: Readonly<Record<string, Example>>,
): Promise<readonly PlacedExample[]> {
  const shown: PlacedExample[] = [];
  for (const name of names) {
    const operation = operations.get(name);
    if (operation === undefined) throw new RangeError(`There is no operation ${name}`);
    const request = requestOf(operation, given[name] ?? {});
    const response = await stage.api.send(request);
    const received = stable(await response.text());
    const sent: SentRequest = JSON.parse(stable(JSON.stringify(request)));
    const text = response.ok ? renderExample(sent, received) : `${response.status} ${received}`;
    shown.push({ ...operation, operation: name, text });
  }
  return shown;
}

/** @throws RangeError if the operation has no such parameter: servers ignore unknown ones */
function requestOf(
  { method, path, parameters = [], name }: NamedOperation,
  { body, ...given }: Example,
): SentRequest {
  const required = requiredValues(path, stage.parts);
  const query: string[] = [];
  let filled = path;
  for (const { name: key, in: place, required: isRequired } of parameters) {
    const value = given[key] ?? ALWAYS[key] ?? (isRequired ? required[key] : undefined);
    if (value === undefined && isRequired) throw new RangeError(`${name} has no value for ${key}`);
    if (value === undefined) continue;
    const text = encodeURIComponent(String(value)).replaceAll('%2C', ',').replaceAll('%3A', ':');
    if (place === 'query') query.push(`${key}=${text}`);
    else filled = filled.replace(`{${key}}`, text);
  }
  const unknown = Object.keys(given).filter((key) => parameters.every((one) => one.name !== key));
  if (unknown.length > 0) throw new RangeError(`${name} has no parameter ${unknown}`);
  const target = query.length === 0 ? filled : `${filled}?${query.join('&')}`;
  return { method, path: target, ...(body !== undefined && { body }) };
}
