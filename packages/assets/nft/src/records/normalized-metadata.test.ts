import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readDocument } from '../document-object.ts';
import { normalizedMetadataSchema, normalizeMetadata } from './normalized-metadata.ts';
import { traitsOf } from './trait.ts';

const NOTHING = {
  name: null,
  description: null,
  image: null,
  animation_url: null,
  external_link: null,
  external_url: null,
  attributes: [],
};
const PLAIN = { trait_type: null, value: null, display_type: null, max_value: null, trait_count: 0, order: null };

describe('normalised metadata', () => {
  test('has every key where nothing is known', () => {
    expect(normalizeMetadata(null)).toEqual(NOTHING);
    expect(normalizeMetadata({})).toEqual(NOTHING);
  });

  test('is what the usual members say, as they stand', () => {
    const document = {
      name: 'Beanz 1',
      description: 'A bean',
      image: 'ipfs://Qm/1.png',
      animation_url: 'ipfs://Qm/1.mp4',
      external_url: 'https://beanz.example',
      attributes: [
        { trait_type: 'Type', value: 'Red Bean' },
        { trait_type: 'Level', value: 5, display_type: 'number', max_value: 10, order: 1, trait_count: 77 },
        { trait_type: 'Rare', value: true },
      ],
    };
    expect(normalizeMetadata(document)).toEqual({
      name: 'Beanz 1',
      description: 'A bean',
      image: 'ipfs://Qm/1.png',
      animation_url: 'ipfs://Qm/1.mp4',
      external_link: 'https://beanz.example',
      external_url: 'https://beanz.example',
      attributes: [
        { ...PLAIN, trait_type: 'Type', value: 'Red Bean' },
        { ...PLAIN, trait_type: 'Level', value: 5, display_type: 'number', max_value: 10, order: 1 },
        { ...PLAIN, trait_type: 'Rare', value: true },
      ],
    });
  });

  test.each([
    ['title for a name', { title: 'T' }, { name: 'T' }],
    ['a number as a name', { name: 7 }, { name: '7' }],
    ['an empty name, then the title', { name: '', title: 'T' }, { name: 'T' }],
    ['image_url', { image_url: 'https://a' }, { image: 'https://a' }],
    ['imageUrl', { image: null, imageUrl: 'https://a' }, { image: 'https://a' }],
    ['image_data', { image_data: '<svg/>' }, { image: '<svg/>' }],
    ['the first of several', { image_data: '<svg/>', image: 'https://a' }, { image: 'https://a' }],
    ['external_link', { external_link: 'https://l' }, { external_link: 'https://l', external_url: 'https://l' }],
    ['members of the wrong type', { name: {}, image: [], attributes: 'x' }, {}],
    ['names that every object has', { description: 'd' }, { description: 'd' }],
  ])('is read from %s', (_name, document, expected) => {
    expect(normalizeMetadata(document)).toEqual({ ...NOTHING, ...expected });
  });

  test.each([
    ['traits', { traits: [{ trait_type: 'a', value: 'b' }] }, [{ ...PLAIN, trait_type: 'a', value: 'b' }]],
    ['properties when they are a list', { properties: [{ value: 'b' }] }, [{ ...PLAIN, value: 'b' }]],
    ['no properties when they are an object', { properties: { a: 'b' } }, []],
    ['attributes before traits', { attributes: [], traits: [{ value: 1 }] }, []],
    ['bare texts', { attributes: ['Blue'] }, [{ ...PLAIN, value: 'Blue' }]],
    ['nothing of lists and nulls', { attributes: [null, ['a'], 3] }, [{ ...PLAIN, value: 3 }]],
    ['no objects as values', { attributes: [{ trait_type: 't', value: {} }] }, [{ ...PLAIN, trait_type: 't' }]],
    [
      'a number as a type',
      { attributes: [{ trait_type: 1, value: 2 }] },
      [{ ...PLAIN, trait_type: '1', value: 2 }],
    ],
  ])('takes as attributes %s', (_name, document, attributes) => {
    expect(normalizeMetadata(document).attributes).toEqual(attributes);
  });

  test('is JSON of its schema, whatever a document holds', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(
            'name',
            'title',
            'image',
            'image_data',
            'attributes',
            'traits',
            'properties',
            '__proto__',
          ),
          fc.oneof(fc.jsonValue(), fc.array(fc.oneof(fc.jsonValue(), fc.record({ value: fc.jsonValue() })))),
        ),
        (document) => {
          const normalized = normalizeMetadata(document);
          expect(normalizedMetadataSchema.parse(JSON.parse(JSON.stringify(normalized)))).toEqual(
            JSON.parse(JSON.stringify(normalized)),
          );
        },
      ),
    );
    expect(
      normalizeMetadata(JSON.parse('{"attributes":[{"value":1e999,"max_value":1e999}]}')).attributes,
    ).toEqual([PLAIN]);
  });
});

test('keeps the digits of numbers that a double would change, as JSON and as traits', () => {
  const source = '3779102112180351519751675603';
  const text = `{"name":${source},"attributes":[{"trait_type":${source},"value":${source},"max_value":${source},"order":9007199254740993}]}`;
  const normalized = normalizeMetadata(readDocument(text)?.fields ?? null);
  expect(normalized.name).toBe(source);
  expect(JSON.stringify(normalized.attributes)).toBe(
    `[{"trait_type":"${source}","value":${source},"display_type":null,"max_value":${source},"trait_count":0,"order":9007199254740993}]`,
  );
  expect(traitsOf(normalized.attributes)).toEqual([{ type: source, value: source }]);
});

test.each(['hello', '""', '[]', '5', 'null', '', '{"a":', 'true'])('%j is no document', (text) => {
  expect(readDocument(text)).toBeNull();
});

test('a JSON object is a document, its text unchanged', () => {
  const text = ' {"b":1, "a":{"constructor":2}} ';
  expect(readDocument(text)).toEqual({ text, fields: { b: 1, a: { constructor: 2 } } });
  expect(readDocument(null)).toBeNull();
});
