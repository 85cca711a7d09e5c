/** Questions that applications ask at any moment: what is kept for answers begins with the first of them. */
import { errorText } from '@chainstead/core';
import type { SeededRandom } from '@chainstead/testkit';
import type { StoryApi } from './api.ts';
import { type AssetsWorld, NFT_KINDS, TOKEN_KINDS } from './world.ts';

export interface Questions {
  /** Leaves one; what becomes of it is looked at when it comes. */
  ask(): void;
  /** Waits for all answers. */
  settle(): Promise<void>;
  readonly asked: number;
  /** What no answer may be, whatever the moment; null for nothing. */
  readonly failure: string | null;
}

/** While blocks come and go, processes end and connections break, it may say that it can't answer now, and has to be asked again. */
const STATUSES = new Set([200, 202, 404, 503]);
const AT_ONCE = 6;

export function openQuestions(world: AssetsWorld, api: StoryApi, random: SeededRandom): Questions {
  const open = new Set<Promise<void>>();
  let asked = 0;
  let failure: string | null = null;

  async function askOne(path: string): Promise<void> {
    try {
      const { status, body } = await api.ask(path);
      const text = JSON.stringify(body);
      if (!STATUSES.has(status)) failure ??= `${path} is answered with ${status} ${text}`;
      if (/"(?:balance|amount|value|total_supply|totalHolders)":"?-/.test(text))
        failure ??= `${path} has something below zero: ${text}`;
    } catch (error) {
      // Nobody listens while the process that answers is killed and started again.
      if (!(error instanceof TypeError) && !(error instanceof SyntaxError)) failure ??= `${path}: ${errorText(error)}`;
    }
  }

  return {
    ask() {
      if (open.size >= AT_ONCE) return;
      asked++;
      const answered = askOne(drawPath(world, random));
      open.add(answered);
      void answered.finally(() => open.delete(answered));
    },
    settle: async () => {
      await Promise.all(open);
    },
    get asked() {
      return asked;
    },
    get failure() {
      return failure;
    },
  };
}

function drawPath(world: AssetsWorld, random: SeededRandom): string {
  const wallet = random.pick(world.holders);
  const token = world.tokens[random.pick(TOKEN_KINDS)];
  const nft = world.nfts[random.pick(NFT_KINDS)];
  return random.pick([
    `${wallet}/erc20`,
    `${wallet}/erc20`,
    `wallets/${wallet}/tokens`,
    `${wallet}/nft`,
    `wallets/${wallet}/approvals`,
    `erc20/${token}/owners`,
    `erc20/${token}/owners`,
    `erc20/${token}/holders`,
    `nft/${nft}/owners`,
    `nft/${nft}/stats`,
    `nft/${nft}`,
    `nft/${nft}/${random.integer(0, 30)}`,
  ]);
}
