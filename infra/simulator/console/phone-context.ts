import { createContext } from 'preact';
import type { MessageDetail } from './model.ts';

/** What the simulator knows of the products and media that a message names. */
export type Known = Pick<MessageDetail, 'products' | 'media'>;

export const KnownThings = createContext<Known>({ products: {}, media: {} });
