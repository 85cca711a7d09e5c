import type { Chain } from '@chainstead/chains';
import { type Address, isAddress, parseAddress } from '@chainstead/core';
import { html } from 'hono/html';
import { cut, type Html } from '../../layout/html.ts';

/** Server of verified contracts that the operator allows. */
export interface AbiSource {
  readonly host: string;
  /** Parsed JSON, or why there is none. */
  read(chain: Chain, address: Address): Promise<{ readonly abi: unknown } | { readonly problem: string }>;
}

/** The text of a form's field, or why there is none. */
export async function readSourceText(
  source: AbiSource | null,
  chain: Chain | undefined,
  given: string,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const address = given.trim();
  if (source === null) return { problem: 'ABI_SOURCE is not set, so ABIs can only be pasted' };
  if (chain === undefined) return { problem: 'Choose a chain that is indexed here' };
  if (!isAddress(address))
    return { problem: `${cut(address) || 'An empty text'} is no address (0x and 40 hexadecimal digits)` };
  const read = await source.read(chain, parseAddress(address));
  return 'problem' in read ? read : { text: JSON.stringify(read.abi, null, 2) };
}

export function sourceButton({ host }: AbiSource, action: string): Html {
  return html`<p class="actions"><button class="quiet" formaction="${action}">Get the ABI from ${host}</button></p>`;
}
