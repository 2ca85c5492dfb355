import * as v from 'valibot';
import { documentedAs } from '../../http/documented.ts';
import { butReceived } from '../../http/json-excerpt.ts';
import { addressForm, addressFormText, addressHint, canonicalAddress } from './recipient-address.ts';

/** All spellings of one recipient in a path become equal (D55). */
export const RecipientPath = v.object({
  recipient: v.pipe(
    v.string(),
    v.regex(addressForm, (issue) => `${butReceived(`recipient ${addressFormText}`)(issue)}${addressHint(issue.input)}`),
    v.transform(canonicalAddress),
    documentedAs(() => v.pipe(v.string(), v.regex(addressForm))),
  ),
});
