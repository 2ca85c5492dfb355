import { messagingError } from '../errors.ts';

const mostSections = 10;
const mostItems = 30;
const longestTitle = 24;

export interface ProductList {
  readonly thumbnail_product_retailer_id?: string | undefined;
  readonly sections?:
    | readonly {
        readonly title?: string | undefined;
        readonly product_items: readonly { readonly product_retailer_id: string }[];
      }[]
    | undefined;
}

/** Checks the product list of an MPM button: a thumbnail, 1 to 10 titled sections, at most 30 products. */
export function checkProductList(where: string, list: ProductList): void {
  const missing = (what: string) => messagingError(131008, `${where}: ${what} is required`);
  const wrong = (what: string) => messagingError(131009, `${where}: ${what}`);
  if (!list.thumbnail_product_retailer_id) throw missing('thumbnail_product_retailer_id');
  const sections = list.sections ?? [];
  if (sections.length === 0) throw missing('sections');
  if (sections.length > mostSections) throw wrong(`at most ${mostSections} sections are allowed`);
  for (const section of sections) {
    if (!section.title) throw missing('title of a section');
    if ([...section.title].length > longestTitle) throw wrong(`title of a section exceeds ${longestTitle} characters`);
    if (section.product_items.length === 0) throw missing('product_items of a section');
    if (section.product_items.some((item) => item.product_retailer_id === '')) throw missing('product_retailer_id');
  }
  const items = sections.reduce((count, section) => count + section.product_items.length, 0);
  if (items > mostItems) throw wrong(`at most ${mostItems} products are allowed`);
}
