import { createContext } from 'preact';
import type { MessageDetail } from './model.ts';

/** Products and media that the message names. */
export type Known = Pick<MessageDetail, 'products' | 'media'>;

export const KnownThings = createContext<Known>({ products: {}, media: {} });
