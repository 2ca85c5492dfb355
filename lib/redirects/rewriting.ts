import { enumOf, isPart, type Part } from '../http/json-part.ts';
import { invalid } from '../http/refusal.ts';
import { isRedirectCode, redirectCode } from './code.ts';

/** `url` is absolute, as the URL parser spells it, and so visible ASCII. */
export interface Redirect {
  readonly code: string;
  readonly url: string;
}

/** A `location` header must fit into the 10 KB that gateways and browsers accept. */
const urlMaxLength = 8_000;
const variable = '{{1}}';

/**
 * Turns every static URL button, also on cards, into `<base URL>/{{1}}` with its code as example (D19), and returns the
 * redirects. Is deterministic. Refuses with 400 a URL of over 8,000 encoded characters.
 */
export function withRedirects(
  components: readonly unknown[],
  { baseUrl, templateKey }: { readonly baseUrl: string; readonly templateKey: string },
): { readonly components: unknown[]; readonly redirects: readonly Redirect[] } {
  const redirects: Redirect[] = [];
  const rewritten = withButtons(components, '', (button, place) => {
    const { url: given } = button;
    if (enumOf(button['type']) !== 'URL' || typeof given !== 'string' || given.endsWith(variable)) return button;
    const url = new URL(given).href;
    if (url.length > urlMaxLength) {
      throw invalid('components', `${place}: a redirect leads to a URL of at most ${urlMaxLength} encoded characters`);
    }
    const code = redirectCode({ templateKey, place, url });
    redirects.push({ code, url });
    return { ...button, url: `${baseUrl}/${variable}`, example: [`${baseUrl}/${code}`] };
  });
  return { components: rewritten, redirects };
}

/**
 * Returns the components with every button replaced. A place ignores the order of components, which has no meaning:
 * `buttons[1]`, `cards[0].buttons[1]`.
 */
function withButtons(
  components: readonly unknown[],
  prefix: string,
  replace: (button: Part, place: string) => Part,
): unknown[] {
  return components.map((component) => {
    if (!isPart(component)) return component;
    const { buttons, cards } = component;
    return {
      ...component,
      ...(Array.isArray(buttons) ? { buttons: buttons.map((button, index) => placed(button, index)) } : {}),
      ...(Array.isArray(cards) ? { cards: cards.map((card, index) => inCard(card, index)) } : {}),
    };
  });

  function placed(button: unknown, index: number): unknown {
    return isPart(button) ? replace(button, `${prefix}buttons[${index}]`) : button;
  }

  function inCard(card: unknown, index: number): unknown {
    if (!isPart(card) || !Array.isArray(card['components'])) return card;
    return { ...card, components: withButtons(card['components'], `cards[${index}].`, replace) };
  }
}

export function redirectCodesOf(components: readonly unknown[]): string[] {
  const codes: string[] = [];
  withButtons(components, '', (button) => {
    const code = redirectCodeOf(button);
    if (code !== undefined) codes.push(code);
    return button;
  });
  return codes;
}

/**
 * Returns the code of a rewritten button, by its example. The base URL does not count, because templates keep theirs
 * when the deployment's changes.
 */
export function redirectCodeOf({ url, example }: Part): string | undefined {
  const value: unknown = [example].flat()[0];
  if (typeof url !== 'string' || !url.endsWith(variable) || typeof value !== 'string') return undefined;
  const fixed = url.slice(0, -variable.length);
  const code = value.startsWith(fixed) ? value.slice(fixed.length) : value;
  return isRedirectCode(code) ? code : undefined;
}
