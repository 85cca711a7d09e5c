/** Bodies that operations on assets can't use. */
import { addressOf } from '@chainstead/testkit';
import { BODY_BYTES_MAX, type TableRequest } from '../request-table.ts';
import { COLLECTION } from './asset-operations.ts';
import { posted } from './asset-request.ts';
import { badList, mustBe, required } from './refusals.ts';

const texts = (list: string) => ({
  array: `${list} must be an array`,
  most: `${list} must contain not more than 25 elements`,
  least: `${list} must contain at least 1 elements`,
});
const TRAITS = 'an object that names 1 to 25 traits with their values, such as {"Background":"Blue"}';

/** The two bodies that are lists, with the hosted provider's texts. @param item one that it takes */
function ofList(name: string, list: string, item: (index: number) => unknown): readonly TableRequest[] {
  const { array, most, least } = texts(list);
  const all = badList(list, array, most, least);
  return [
    posted(name, {}, 400, all),
    posted(name, [], 400, all),
    posted(name, { [list]: 'x' }, 400, all),
    posted(name, '', 400, all),
    posted(name, { [list]: [] }, 400, badList(list, least)),
    posted(name, { [list]: Array.from({ length: 26 }, (_, index) => item(index)) }, 400, badList(list, most)),
    ...ofBody(name),
  ];
}

/** Bodies that are none. */
function ofBody(name: string): readonly TableRequest[] {
  const tooLarge = {
    message: `Request body is larger than ${BODY_BYTES_MAX} bytes`,
    details: { limit_bytes: BODY_BYTES_MAX },
  };
  return [
    posted(name, '{"', 400, { message: 'Malformed JSON in request body' }),
    { ...posted(name, {}, 415, { message: 'Unsupported Media Type' }), contentType: 'text/plain' },
    posted(name, `"${'x'.repeat(BODY_BYTES_MAX)}"`, 413, tooLarge),
  ];
}

export const BAD_BODIES: readonly TableRequest[] = [
  ...ofList('getMultipleNFTs', 'tokens', (index) => ({ token_address: COLLECTION, token_id: String(index) })),
  ...ofList('getNFTBulkContractMetadata', 'addresses', (index) => addressOf(index)),
  posted(
    'getMultipleNFTs',
    { tokens: [{ token_address: '0x12', token_id: '1' }] },
    400,
    badList('tokens', '[C0005] Invalid address provided'),
  ),
  posted(
    'getMultipleNFTs',
    { tokens: [{ token_address: COLLECTION, token_id: 'x' }] },
    400,
    badList('tokens', '[C0005] Invalid TokenId provided'),
  ),
  posted(
    'getMultipleNFTs',
    { tokens: [{ token_address: COLLECTION, token_id: '' }], normalizeMetadata: 'true', media_items: 1 },
    400,
    badList(
      'tokens',
      '[C0005] Invalid TokenId provided',
      'normalizeMetadata must be a boolean value',
      'media_items must be a boolean value',
    ),
  ),
  posted(
    'getNFTBulkContractMetadata',
    { addresses: ['0x12', 5] },
    400,
    badList('addresses', '[C0005] Invalid address provided'),
  ),
  ...ofBody('getNFTByContractTraits'),
  posted('getNFTByContractTraits', {}, 400, required('traits')),
  posted('getNFTByContractTraits', '', 400, required('traits')),
  posted('getNFTByContractTraits', { traits: {} }, 400, {
    message: `traits must be ${TRAITS}, {} was given`,
    details: { errors: [{ parameter: 'traits', given: {}, allowed: TRAITS }] },
  }),
  posted('getNFTByContractTraits', { traits: 'red' }, 400, mustBe('traits', 'red', TRAITS)),
  posted('getNFTByContractTraits', { traits: { Color: null } }, 400, {
    message: 'traits.Color must be text, a number or a boolean, null was given',
    details: { errors: [{ parameter: 'traits.Color', given: null, allowed: 'text, a number or a boolean' }] },
  }),
];
