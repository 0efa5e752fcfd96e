import { Group } from '@mantine/core'
import { catalogue } from '../../lib/i18n'
import { CopyField } from '../form/CopyField'

const useText = catalogue(
  { qr: 'QR code for the authenticator app', key: 'Key' },
  { qr: 'Código QR para la aplicación de autenticación', key: 'Clave' },
)

/** The key of a second factor: to scan, or to type. */
export function TotpQrCode({ qr, secret }: { qr: string; secret: string }) {
  const t = useText()
  return (
    <Group align="center" gap="md" className="totp">
      <img
        alt={t.qr}
        width={184}
        height={184}
        src={`data:image/svg+xml,${encodeURIComponent(qr)}`}
      />
      <CopyField value={secret} label={t.key} />
    </Group>
  )
}
