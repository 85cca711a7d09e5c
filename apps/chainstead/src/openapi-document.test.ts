/** What `/docs` shows of every operation: a group, and a description of each parameter and field. */
import { createScratchDatabase } from '@chainstead/testkit';
import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { readOpenApiDocument } from './testing/openapi-document.ts';

const node = z.record(z.string(), z.unknown());
const described = z.object({ description: z.string().min(1) });
const named = z.object({ name: z.string() });
const operation = z.object({ tags: z.array(z.string()).length(1) });

let document: Awaited<ReturnType<typeof readOpenApiDocument>>;

beforeAll(async () => {
  const scratch = await createScratchDatabase();
  try {
    document = await readOpenApiDocument(scratch);
  } finally {
    await scratch.drop();
  }
});

/** Places of parameters and fields without a description, below a node of the document. */
function undescribed(value: unknown, place: string): string[] {
  if (Array.isArray(value)) return value.flatMap((one: unknown) => undescribed(one, place));
  const members = node.safeParse(value).data;
  if (members === undefined) return [];
  const fields = Object.entries(node.safeParse(members.properties).data ?? {}).filter(
    ([, field]) => !isDescribed(field),
  );
  const parameters = z.array(named.loose()).safeParse(members.parameters).data ?? [];
  return [
    ...fields.map(([name]) => `${place}: field ${name}`),
    ...parameters.filter((one) => !isDescribed(one)).map(({ name }) => `${place}: parameter ${name}`),
    ...Object.entries(members).flatMap(([key, inner]) =>
      key.startsWith('example') ? [] : undescribed(inner, `${place}/${key}`),
    ),
  ];
}

/** A reference counts if what it names is described. */
function isDescribed(value: unknown): boolean {
  if (described.safeParse(value).success) return true;
  const reference = z.object({ $ref: z.string() }).safeParse(value).data?.$ref;
  return described.safeParse(document.components.schemas[reference?.split('/').at(-1) ?? '']).success;
}

// Texts that several schemas share are in packages/engine/http/src/documentation/descriptions.
it('describes every parameter and field', () => {
  expect(undescribed(document.paths, '')).toEqual([]);
  expect(undescribed(document.components.schemas, 'schemas')).toEqual([]);
});

it('puts every operation into one of the groups, and has no empty group', () => {
  const used = Object.values(document.paths).flatMap((operations) =>
    Object.values(operations).flatMap((one) => operation.parse(one).tags),
  );
  expect(document.tags.map(({ name }) => name).toSorted()).toEqual([...new Set(used)].toSorted());
});
