import { catalogue } from '../../lib/i18n'

export const useSearchText = catalogue(
  {
    noneFits: 'Nothing fits the filter',
    noneFitsBody: 'Look for less, or clear the field.',
  },
  {
    noneFits: 'Nada encaja con el filtro',
    noneFitsBody: 'Busca menos, o vacía el campo.',
  },
)
