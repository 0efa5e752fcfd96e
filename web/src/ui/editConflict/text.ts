import { catalogue } from '../../lib/i18n'

export const useText = catalogue(
  {
    changed: (who: string) => `Changed meanwhile by ${who}.`,
    somebody: 'somebody else',
    stays: 'What you typed is still here, and not saved.',
    refused: 'Nothing was saved: somebody else changed it meanwhile.',
    show: 'Show the difference',
    theirs: 'Take theirs',
    keep: 'Keep mine',
    keepHelp:
      'Keep mine: you go on with what you typed, on top of their version; saving replaces theirs where both differ. Take theirs: what you typed is dropped.',
    difference: 'What they changed',
    mine: 'also changed by you',
    before: 'was',
    after: 'is now',
  },
  {
    changed: (who: string) => `Lo cambió entretanto ${who}.`,
    somebody: 'otra persona',
    stays: 'Lo que escribiste sigue aquí, sin guardar.',
    refused: 'No se guardó nada: otra persona lo cambió entretanto.',
    show: 'Ver la diferencia',
    theirs: 'Tomar lo suyo',
    keep: 'Dejar lo mío',
    keepHelp:
      'Dejar lo mío: sigues con lo que escribiste, sobre su versión; al guardar sustituye lo suyo donde difieran. Tomar lo suyo: lo que escribiste se descarta.',
    difference: 'Qué cambió',
    mine: 'también lo cambiaste tú',
    before: 'era',
    after: 'ahora es',
  },
)
