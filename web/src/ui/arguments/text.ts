import { catalogue } from '../../lib/i18n'

export const useText = catalogue(
  {
    nth: (n: number) => `Argument ${n}`,
    fixed: 'Fixed by the task',
    none: 'This runs without arguments.',
    required: 'Required.',
    tooShort: (n: number) => `At least ${n} characters.`,
    tooLong: (n: number) => `At most ${n} characters.`,
    tooBig: 'The file is larger than 32 MB.',
    unreadable: 'The file cannot be read.',
    chooseFile: 'Choose a file',
    masked: 'Hidden: never shown or stored in this browser.',
    time: 'Time (optional)',
    date: 'Date',
    loadingChoices: 'Loading choices…',
    noChoices: (from: string) =>
      `The choices come from ${from}, which did not respond. Enter the value.`,
    foreignChoices: (from: string) =>
      `The choices come from ${from}, another site that this page is not allowed to call. Enter the value.`,
  },
  {
    nth: (n: number) => `Argumento ${n}`,
    fixed: 'Lo fija la tarea',
    none: 'Se ejecuta sin argumentos.',
    required: 'Obligatorio.',
    tooShort: (n: number) => `Al menos ${n} caracteres.`,
    tooLong: (n: number) => `Como mucho ${n} caracteres.`,
    tooBig: 'El archivo supera los 32 MB.',
    unreadable: 'No se puede leer el archivo.',
    chooseFile: 'Elige un archivo',
    masked: 'Oculto: no se muestra ni se guarda en este navegador.',
    time: 'Hora (opcional)',
    date: 'Fecha',
    loadingChoices: 'Cargando opciones…',
    noChoices: (from: string) =>
      `Las opciones vienen de ${from}, que no respondió. Introduce el valor.`,
    foreignChoices: (from: string) =>
      `Las opciones vienen de ${from}, otro sitio al que esta página no puede llamar. Introduce el valor.`,
  },
)
