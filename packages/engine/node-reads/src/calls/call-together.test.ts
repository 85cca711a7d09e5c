import { type Hex, parseAddress } from '@chainstead/core';
import { RequestAbortedError } from '@chainstead/rpc';
import { expect, test } from 'vitest';
import { StateUnavailableError } from '../state-error.ts';
import {
  type CallAnswer,
  type CallMeans,
  type ContractCall,
  callTogether,
  createLateCalls,
} from './call-together.ts';

const CALLS: readonly ContractCall[] = Array.from({ length: 12 }, (_, place) => ({
  to: parseAddress(`0x${place.toString(16).padStart(40, '0')}`),
  data: '0x70a08231',
}));
const ODD = CALLS[3]?.to;

const dataOf = ({ to }: ContractCall): Hex => `0x${to.slice(2).padStart(64, '0')}`;
const answerTo = async (call: ContractCall): Promise<CallAnswer> => ({ data: dataOf(call), upstream: 'a' });

function untilLate(late: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    late.addEventListener('abort', () => reject(new RequestAbortedError('eth_call')));
  });
}

const fails = async (): Promise<never> => {
  throw new StateUnavailableError('No node answers');
};

function means(
  odd: CallMeans['one'],
  many: CallMeans['many'] = null,
): CallMeans & { readonly requested: ContractCall[] } {
  const requested: ContractCall[] = [];
  return {
    requested,
    many,
    lateCalls: createLateCalls(),
    one(call, late) {
      requested.push(call);
      return call.to === ODD ? odd(call, late) : answerTo(call);
    },
  };
}

function unreadOf(answers: readonly CallAnswer[]): readonly number[] {
  return answers.flatMap(({ unread }, place) => (unread === undefined ? [] : [place]));
}

test('a call that nobody can read is unread, and the others have their answers', async () => {
  const answers = await callTogether(CALLS, means(fails));
  expect(unreadOf(answers)).toEqual([3]);
  expect(answers.map(({ data }) => data)).toEqual(CALLS.map((call) => (call.to === ODD ? null : dataOf(call))));
});

test('why the first could not be read is thrown where none could', async () => {
  const none: CallMeans = { one: fails, many: null, lateCalls: createLateCalls() };
  await expect(callTogether(CALLS, none)).rejects.toThrow('No node answers');
});

test('one call alone throws why it could not be read', async () => {
  await expect(callTogether(CALLS.slice(3, 4), means(fails))).rejects.toThrow('No node answers');
});

test('one that takes far longer than the others is left out, and for a while not asked beside others', async () => {
  const slow = means((_, late) => untilLate(late));
  expect(unreadOf(await callTogether(CALLS, slow))).toEqual([3]);
  const requested = slow.requested.length;
  expect(unreadOf(await callTogether(CALLS, slow))).toEqual([3]);
  expect(slow.requested.slice(requested).map(({ to }) => to)).not.toContain(ODD);
});

test('an aggregate that fails, or that one contract holds up, is made in single calls', async () => {
  for (const many of [fails, (_: unknown, late: AbortSignal) => untilLate(late)]) {
    const answers = await callTogether(CALLS, means(answerTo, many));
    expect(answers.map(({ data }) => data)).toEqual(CALLS.map(dataOf));
  }
});

test('what somebody gives up is thrown, and what is wrong with the program', async () => {
  const given = means(async () => {
    throw new RequestAbortedError('eth_call');
  });
  await expect(callTogether(CALLS, given)).rejects.toBeInstanceOf(RequestAbortedError);
  const wrong = means(async () => {
    throw new TypeError('of the program');
  });
  await expect(callTogether(CALLS, wrong)).rejects.toBeInstanceOf(TypeError);
});
