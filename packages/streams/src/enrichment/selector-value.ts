import { type Address, isAddress, parseAddress } from '@chainstead/core';
import { itemTypeOf, type SelectorType } from '../item-types.ts';
import type { WebhookContents } from '../payload/webhook.ts';

/** An item of a webhook, as selectors read it. */
export type SelectedItem = object;

/** The items of a type, in the webhook's order. */
export function itemsOf(type: SelectorType, contents: WebhookContents): readonly SelectedItem[] {
  return contents[itemTypeOf(type).list];
}

/** What a text stands for with an item: `$name` is the item's member, anything else itself. Null where the item has none. */
export function selectedText(text: string, item: SelectedItem): string | null {
  if (!text.startsWith('$')) return text;
  const value = new Map<string, unknown>(Object.entries(item)).get(text.slice(1));
  return typeof value === 'string' ? value : null;
}

const ADDRESS_WORD = /^0x0{24}[0-9a-f]{40}$/i;

/** As above, where an address has to come out; a topic holds one when its upper 12 bytes are zero. */
export function selectedAddress(text: string, item: SelectedItem): Address | null {
  const value = selectedText(text, item);
  if (value === null) return null;
  if (ADDRESS_WORD.test(value)) return parseAddress(`0x${value.slice(-40)}`);
  return isAddress(value) ? parseAddress(value) : null;
}
