import fc from 'fast-check';
import type { HeaderInput, Recipient } from '../../lib/messages/dispatch/head.ts';
import type { ParameterContract } from '../../lib/messages/request/parameter-contract.ts';

/** A text has any script, sometimes with forbidden characters (blanks, controls), as in real requests. */
const value = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ minLength: 1, maxLength: 40 }));
const values = (count: number) => fc.array(value, { minLength: count, maxLength: count });

const buttonValues = (buttons: ParameterContract['buttons']) =>
  fc.tuple(...buttons.map(({ kind }) => (kind === 'copy_code' ? fc.stringMatching(/^[A-Z0-9]{1,15}$/) : value)));

const product = (contract: ParameterContract) =>
  fc.record({
    type: fc.constant('action' as const),
    action: fc.record({
      thumbnailProductRetailerId: value,
      ...(contract.productList === undefined
        ? {}
        : {
            sections: fc.array(
              fc.record({
                title: fc.string({ maxLength: 26 }),
                product_items: fc.array(fc.record({ product_retailer_id: value }), { maxLength: 4 }),
              }),
              { maxLength: 3 },
            ),
          }),
    }),
  });

/** Generates recipients with the right number of values for a template, most of them acceptable. */
export function recipientFor(contract: ParameterContract): fc.Arbitrary<Recipient> {
  const products = contract.header.kind === 'product' || contract.productList !== undefined ? 1 : 0;
  return fc.record({
    to: fc.oneof(
      fc.stringMatching(/^\+?[1-9][0-9]{7,14}$/),
      fc.stringMatching(/^[A-Z]{2}\.(ENT\.)?[0-9A-Za-z]{1,20}$/),
    ),
    params: fc.record({
      header: values(contract.header.kind === 'text' ? contract.header.text.appearances.length : 0),
      body: values(contract.body.appearances.length),
      buttons: contract.codeButton === undefined ? buttonValues(contract.buttons) : fc.constant([]),
      products: fc.array(product(contract), { minLength: products, maxLength: products }),
      cards: fc.tuple(
        ...contract.cards.map((card) =>
          fc.record({ body: values(card.body.appearances.length), buttons: buttonValues(card.buttons) }),
        ),
      ),
    }),
  });
}

/** Returns the header input that a template needs. */
export function headerInputFor({ header }: ParameterContract): HeaderInput | undefined {
  const value = 'https://cdn.example.com/file';
  if (header.kind !== 'input') return undefined;
  switch (header.type) {
    case 'image_url':
    case 'video_url':
      return { type: header.type, value };
    case 'document_url':
      return { type: header.type, value, filename: 'invoice.pdf' };
    case 'location':
      return {
        type: 'location',
        location: { latitude: '-34.6', longitude: '-58.4', name: 'Shop', address: 'Street 1' },
      };
  }
}
