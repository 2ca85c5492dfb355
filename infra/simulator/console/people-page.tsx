import { OptOutsView } from './opt-outs-view.tsx';
import { PhonesView } from './people-phones.tsx';
import { ToldView } from './people-told.tsx';
import { place } from './router.ts';
import { useStore } from './store.ts';

/** Shows opt-outs, acts on the phones, and the events about them. */
export function PeoplePage() {
  const { show = '' } = useStore(place).filter;
  if (show === 'phones') return <PhonesView />;
  return show === 'told' ? <ToldView /> : <OptOutsView />;
}
