import { type BlockRange, ChainsteadError } from '@chainstead/core';

/** A command asks for versions that do not exist yet. */
export class VersionsNotThereError extends ChainsteadError {
  constructor(facts: { chain: string; range: BlockRange; head: number }) {
    super({
      code: 'VERSIONS_NOT_THERE',
      message: `Versions ${facts.range.from} to ${facts.range.to} of ${facts.chain} reach above ${facts.head}, the newest version of its fullnodes`,
      facts,
      remedy: `Ask for --to ${facts.head} or lower; "chainstead start" follows what is above`,
      retryable: false,
    });
  }
}
