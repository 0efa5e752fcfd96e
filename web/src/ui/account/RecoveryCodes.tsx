import { Button, CopyButton, Group, Modal, Stack, Text } from '@mantine/core'
import { catalogue } from '../../lib/i18n'
import { useWords } from '../text'

const useText = catalogue(
  {
    title: 'Recovery codes',
    body: 'Each code signs you in once if you lose your phone. Store them somewhere safe: they are not shown again.',
    kept: 'I have saved them',
  },
  {
    title: 'Códigos de recuperación',
    body: 'Cada código permite entrar una vez si pierdes el teléfono. Guárdalos en lugar seguro: no se muestran otra vez.',
    kept: 'Los he guardado',
  },
)

/** Shown once, after a second factor was set up. null: closed. */
export function RecoveryCodes({ codes, onClose }: { codes: string[] | null; onClose: () => void }) {
  const t = useText()
  const w = useWords()
  return (
    <Modal
      opened={codes !== null}
      onClose={onClose}
      title={t.title}
      closeOnClickOutside={false}
      withCloseButton={false}
    >
      <Stack gap="sm">
        <Text size="sm">{t.body}</Text>
        <ul className="recovery-codes">
          {codes?.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <Group justify="flex-end" gap={8}>
          <CopyButton value={codes?.join('\n') ?? ''}>
            {({ copied, copy }) => (
              <Button variant="default" onClick={copy}>
                {copied ? w.copied : w.copy}
              </Button>
            )}
          </CopyButton>
          <Button onClick={onClose}>{t.kept}</Button>
        </Group>
      </Stack>
    </Modal>
  )
}
