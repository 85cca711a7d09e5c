import { html } from 'hono/html';
import { type Html, NOTHING } from './html.ts';

/** What each form of a change has in it. */
export const TOKEN_FIELD = 'token';
/** Instead of the field, for scripts. */
export const TOKEN_HEADER = 'x-console-token';

/** A form that changes something. @param content fields and buttons. @param label what a screen reader calls it */
export function changeForm(action: string, token: string, content: Html, label?: string): Html {
  return html`<form method="post" action="${action}" ${label === undefined ? NOTHING : html`aria-label="${label}"`}>
<input type="hidden" name="${TOKEN_FIELD}" value="${token}">${content}</form>`;
}
