// The parameters of a send follow from the answer to GET /v1/templates/{id}.
import type { Schemas } from './service.ts';

type Needed = NonNullable<Schemas['Template']['parameters']>;
type Params = NonNullable<Schemas['SendRequest']['recipients'][number]['params']>;
type Component = NonNullable<Schemas['SendRequest']['component']>;
type NeededCard = NonNullable<Needed['params']['cards']>[number];
type NeededProducts = NonNullable<Needed['params']['products']>;

const imageUrl = 'https://example.com/picture.png';

/** Returns a value for each variable of a text: the platform's example, or one of ours. */
function values(need: NonNullable<NeededCard['body']>): string[] {
  return need.values.map(({ example = 'A17' }) => example);
}

/** Returns the `body` and `buttons` that a template or a card needs. */
function parts({ body, buttons }: NeededCard) {
  return {
    ...(body && { body: values(body) }),
    ...(buttons && { buttons: buttons.map(({ example = 'A17' }) => example) }),
  };
}

function products({ kind }: NeededProducts): NonNullable<Params['products']> {
  const thumbnail = { thumbnailProductRetailerId: 'AND-001' };
  const sections = [{ title: 'All', product_items: [{ product_retailer_id: 'AND-001' }] }];
  return [{ type: 'action', action: kind === 'list' ? { ...thumbnail, sections } : thumbnail }];
}

export function paramsOf(need: Needed['params']): Params {
  return {
    ...parts(need),
    ...(need.header && { header: values(need.header) }),
    ...(need.products && { products: products(need.products) }),
    ...(need.cards && { cards: need.cards.map(parts) }),
  };
}

/** Returns the header that is the same for all recipients; undefined for most templates. */
export function componentOf({ header }: Needed['component']): Component {
  switch (header?.type) {
    case undefined:
      return {};
    case 'location': {
      const location = { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Florida 100' };
      return { header: { type: 'location', location } };
    }
    case 'image_url':
    case 'video_url':
    case 'document_url':
      return { header: { type: header.type, value: imageUrl } };
    default:
      throw new Error(`a header of an unknown type: ${header?.type}`);
  }
}
