import { html } from 'hono/html';
import { type Html, NOTHING } from './html.ts';

export const TOKEN_FIELD = 'token';
/** Replaces the field for scripts. */
export const TOKEN_HEADER = 'x-console-token';

export function changeForm(action: string, token: string, content: Html, label?: string): Html {
  return html`<form method="post" action="${action}" ${label === undefined ? NOTHING : html`aria-label="${label}"`}>
<input type="hidden" name="${TOKEN_FIELD}" value="${token}">${content}</form>`;
}
