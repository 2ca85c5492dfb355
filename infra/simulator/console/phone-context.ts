import { createContext } from 'preact';
import type { MessageDetail } from './model.ts';

export type Known = Pick<MessageDetail, 'products' | 'media'>;

export const KnownThings = createContext<Known>({ products: {}, media: {} });
