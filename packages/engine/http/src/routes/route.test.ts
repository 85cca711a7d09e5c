import { z } from '@hono/zod-openapi';
import { expect, test } from 'vitest';
import { createDemoApi, errorOf } from '../testing/demo-api.ts';
import { routesFor, withServices } from './routes-for.ts';
import { each, fieldsOf, inside, view } from './view.ts';
import { count, described, integer, text, wire } from './wire.ts';

const { defineRoute, defineListRoute } = routesFor<{ readonly greeting: string }>();

interface Person {
  readonly name: string;
  readonly age: number | null;
  readonly born: Date;
  readonly friends: readonly Person[];
}

const day = wire(z.string(), (date: Date) => date.toISOString().slice(0, 10));
const friendView = view(null, (person: Person) => person, { name: text(), age: integer.orAbsent('In years') });
const name = { name: 'Person', description: 'Somebody' };
const namedFields = fieldsOf<Pick<Person, 'name'>>()({ name: text({ example: 'Ada' }, (person) => person.name) });
const personView = view(name, (person: Person) => person, {
  ...namedFields,
  alias: described(
    text(({ name }: Person) => name),
    'Same as name',
  ),
  age: integer.orNull(),
  born: day(),
  friends: each(friendView, (list) => list.max(9))('Those of the same age', ({ friends }) => friends),
  first: inside(friendView).orNull(({ friends: [first = null] }) => first),
  since: day.ifRequested(({ friends: [first] }) => first && (first.age === null ? null : first.born)),
  called: text.of('name'),
  called_so: text('The same', 'name'),
});

test('a view shows members of the same or another name, dates, lists and other views', () => {
  const born = new Date('1815-12-10T00:00:00Z');
  const friend = { name: 'Mary', age: null, born, friends: [] };
  expect(personView.show({ ...friend, name: 'Ada', age: 36, friends: [friend] })).toEqual({
    name: 'Ada',
    alias: 'Ada',
    age: 36,
    born: '1815-12-10',
    friends: [{ name: 'Mary' }],
    first: { name: 'Mary' },
    since: null,
    called: 'Ada',
    called_so: 'Ada',
  });
  expect(personView.show(friend)).toMatchObject({ age: null, first: null, friends: [], since: undefined });
  expect(personView.schema.safeParse({ friends: Array(10).fill(friend) }).error?.issues).toContainEqual(
    expect.objectContaining({ path: ['friends'], code: 'too_big' }),
  );
});

const digit = z.string().regex(/^\d$/, { error: 'must be a digit' });

const greetingRoute = defineRoute({
  path: '/demo/greetings/{name}',
  tag: 'Demo',
  summary: 'Greet',
  params: [{ name: digit }],
  query: [{ times: digit }],
  body: () => z.object({ loud: z.boolean() }),
  response: { description: 'The greeting', schema: z.string() },
  answer: async ({ services, name, times, body }) => `${services.greeting} ${name} ${times} ${body.loud}`,
});

const pagesRoute = defineListRoute({
  path: '/demo/steps',
  operationId: 'listSteps',
  tag: 'Demo',
  summary: 'List steps',
  query: [{ limit: z.string().transform(Number) }],
  response: 'A page of steps',
  position: z.int(),
  firstPage: 0,
  async read({ query: { after, limit } }) {
    const first = (after ?? -1) + 1;
    const rows = Array.from({ length: limit }, (_, index) => first + index);
    return { rows, next: { position: first + limit - 1, upperBound: 0 } };
  },
  view: view(null, (step: number) => ({ step }), { step: count() }),
  row: (step) => [step],
});

const boundsRoute = defineListRoute({
  path: '/demo/bounds',
  operationId: 'listBounds',
  tag: 'Demo',
  summary: 'List bounds',
  query: ['blockBounds', { block: 'fromBlock' }],
  response: 'A page of bounds',
  position: z.int(),
  firstPage: 0,
  bounds: ({ block, ...values }) => (block === undefined ? values : { from_block: block, to_block: block }),
  read: async ({ query: { fromBlock, toBlock } }) => ({ rows: [fromBlock, toBlock], next: null }),
  view: view(null, (step: number | null) => ({ step }), { step: count.orNull() }),
  row: (step) => [step],
});

const routes = [greetingRoute, pagesRoute, boundsRoute];
const demo = createDemoApi({ routes: [withServices({ greeting: 'Hello' }, routes)] });

async function greet(name: string, times: string, body: object): Promise<Response> {
  return demo.app.request(`/demo/greetings/${name}?times=${times}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

test('errors of the query come before those of the path and the body', async () => {
  expect(await (await greet('1', '2', { loud: true })).json()).toBe('Hello 1 2 true');
  expect(await errorOf(await greet('x', 'y', {}))).toMatchObject({ message: 'times: must be a digit' });
  expect(await errorOf(await greet('x', '2', {}))).toMatchObject({ message: 'name: must be a digit' });
  expect(await errorOf(await greet('1', '2', {}))).toMatchObject({ message: 'loud is required' });
});

const stepsShape = z.object({ result: z.array(z.object({ step: z.int() })) });
const pageShape = stepsShape.extend({ cursor: z.string() });

test('a required limit is required with a cursor too', async () => {
  const page = async (query: string) => demo.app.request(`/demo/steps?${query}`);
  const first = pageShape.parse(await (await page('limit=2')).json());
  expect(first.result).toEqual([{ step: 0 }, { step: 1 }]);
  const later = pageShape.parse(await (await page(`limit=2&cursor=${first.cursor}`)).json());
  expect(later.result).toEqual([{ step: 2 }, { step: 3 }]);
  expect(await errorOf(await page(`cursor=${first.cursor}`))).toMatchObject({ message: 'limit is required' });
  const other = await errorOf(await page(`limit=3&cursor=${first.cursor}`));
  expect(other.message).toBe('limit must be 2 as in the cursor, or left out, 3 was given');
});

test('other parameters can bound the blocks of a list', async () => {
  const page = async (query: string) => demo.app.request(`/demo/bounds?${query}`);
  const { result } = stepsShape.parse(await (await page('block=5&from_block=9&to_block=1')).json());
  expect(result).toEqual([{ step: 5 }, { step: 5 }]);
  const reversed = await errorOf(await page('from_block=9&to_block=1'));
  expect(reversed.message).toBe('from_block must be at most to_block (1), "9" was given');
});
